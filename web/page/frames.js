// Cache of the frames of a run, with prefetching.

import { decodeMesh, decodeParticles } from "./wire.js";

const MOST_BYTES = 256e6;
const AT_ONCE = 3;

export class Frames {
  // `kind` is "frame" for particles, and "surface" or "cloth" with a number for meshes; `arrived` is called for each of them.
  constructor(source, run, kind, arrived) {
    this.source = source;
    this.address = (number) => `/run/${run}/${kind}/${number}`;
    this.decode = kind === "frame" ? decodeParticles : decodeMesh;
    this.arrived = arrived;
    this.numbers = [];
    this.kept = new Map();
    this.bytes = 0;
    this.wanted = [];
    this.pending = new Set();
  }

  // Frame to show for a frame of the timeline: itself or the last existing one before it.
  numberAt(frame) {
    let low = 0;
    let high = this.numbers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.numbers[middle] <= frame) low = middle + 1;
      else high = middle;
    }
    return this.numbers[Math.max(0, low - 1)];
  }

  get(number) {
    const found = this.kept.get(number);
    if (found) {
      // Least recently used frames are evicted first.
      this.kept.delete(number);
      this.kept.set(number, found);
    }
    return found;
  }

  // A restarted run has other frames under the same numbers.
  forget() {
    this.kept.clear();
    this.bytes = 0;
    this.numbers = [];
  }

  // Requests frame `number` now, and then those after it.
  want(number, ahead) {
    const start = this.numbers.indexOf(number);
    this.wanted = start < 0 ? [] : this.numbers.slice(start, start + 1 + ahead);
    this.fetchNext();
  }

  fetchNext() {
    for (const number of this.wanted) {
      if (this.pending.size >= AT_ONCE) return;
      if (!this.kept.has(number) && !this.pending.has(number)) this.fetch(number);
    }
  }

  async fetch(number) {
    this.pending.add(number);
    let answer;
    try {
      const buffer = await this.source.bytes(this.address(number));
      answer = { ...this.decode(buffer), bytes: buffer.byteLength };
    } catch (fault) {
      answer = { fault: String(fault.message ?? fault), bytes: 0 };
    }
    this.pending.delete(number);
    this.kept.set(number, answer);
    this.bytes += answer.bytes;
    for (const [old, { bytes }] of this.kept) {
      if (this.bytes <= MOST_BYTES || old === number) break;
      this.kept.delete(old);
      this.bytes -= bytes;
    }
    this.arrived(this, number);
    this.fetchNext();
  }

  // A damaged frame may have been repaired.
  retry() {
    for (const [number, { fault }] of this.kept) if (fault) this.kept.delete(number);
  }
}
