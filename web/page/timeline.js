// Timeline and the plots under it, which share its axis: dragging anywhere scrubs.

import { RUN_COLOURS, range, valueAt } from "./plots.js";

const TRACK = 26;
const DIM = "#8494aa";
const FAINT = "#222d3d";

export class Timeline {
  // `seek` is called with a time in seconds.
  constructor(canvas, seek) {
    this.canvas = canvas;
    this.seek = seek;
    this.rows = [];
    this.open = true;
    this.length = 1;
    this.marks = [];
    this.time = 0;
    this.asked = false;
    new ResizeObserver(() => this.ask()).observe(canvas.parentElement);
    const drag = (event) => {
      if (event.type === "pointerdown") canvas.setPointerCapture(event.pointerId);
      if (event.type === "pointerdown" || event.buttons) this.seek(this.timeAt(event.offsetX));
    };
    canvas.addEventListener("pointerdown", drag);
    canvas.addEventListener("pointermove", drag);
  }

  get narrow() {
    return this.canvas.clientWidth < 640;
  }

  get left() {
    return this.narrow ? 14 : 190;
  }

  get right() {
    return this.canvas.clientWidth - (this.narrow ? 14 : 20);
  }

  get rowHeight() {
    // The picture keeps most of the window.
    const room = (0.28 * window.innerHeight) / Math.max(1, this.rows.length);
    return Math.round(Math.min(36, Math.max(this.narrow ? 26 : 19, room)));
  }

  timeAt(x) {
    const share = (x - this.left) / Math.max(1, this.right - this.left);
    return Math.min(1, Math.max(0, share)) * this.length;
  }

  x(time) {
    return this.left + (time / this.length) * (this.right - this.left);
  }

  // Schedules one redraw before the next picture.
  ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  }

  draw() {
    const height = TRACK + (this.open ? this.rows.length * this.rowHeight : 0);
    const sharp = Math.min(window.devicePixelRatio || 1, 2);
    const width = this.canvas.clientWidth;
    if (!width) return;
    if (this.canvas.width !== Math.round(width * sharp) || this.canvas.height !== Math.round(height * sharp)) {
      this.canvas.style.height = `${height}px`;
      this.canvas.width = Math.round(width * sharp);
      this.canvas.height = Math.round(height * sharp);
    }
    const pen = this.canvas.getContext("2d");
    pen.setTransform(sharp, 0, 0, sharp, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = "12px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
    this.track(pen);
    if (this.open) this.rows.forEach((row, i) => this.plot(pen, row, TRACK + i * this.rowHeight));
    const x = this.x(this.time);
    pen.strokeStyle = "#dbe4ef66";
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x, TRACK / 2);
    pen.lineTo(x, height);
    pen.stroke();
    pen.fillStyle = "#dbe4ef";
    pen.beginPath();
    pen.arc(x, TRACK / 2, 7, 0, 2 * Math.PI);
    pen.fill();
  }

  // Available frames by run, and the current time.
  track(pen) {
    const y = TRACK / 2;
    const bar = (from, to, colour, top, thick) => {
      pen.fillStyle = colour;
      pen.fillRect(from, top, Math.max(0, to - from), thick);
    };
    const each = 4 / this.marks.length;
    bar(this.left, this.right, FAINT, y - 2, 4);
    this.marks.forEach((there, run) => {
      const top = y - 2 + run * each;
      bar(this.left, this.x(there), "#3a4a61", top, each);
      bar(this.left, this.x(Math.min(there, this.time)), RUN_COLOURS[run], top, each);
    });
  }

  plot(pen, row, top) {
    const height = this.rowHeight;
    const [low, high] = range(row);
    const bottom = top + height - 3;
    const tall = height - (this.narrow ? 15 : 6);
    const y = (value) => bottom - ((Math.min(high, Math.max(low, value)) - low) / (high - low)) * tall;
    pen.fillStyle = FAINT;
    pen.fillRect(this.left, bottom, this.right - this.left, 1);
    if (row.around !== undefined) pen.fillRect(this.left, y(row.around), this.right - this.left, 1);
    if (row.bands) this.bands(pen, row, y, bottom);
    else row.lines.forEach((line, run) => this.line(pen, line, y, RUN_COLOURS[run]));
    pen.textBaseline = "alphabetic";
    const base = this.narrow ? top + 11 : top + height / 2 + 5;
    pen.fillStyle = DIM;
    pen.textAlign = "left";
    pen.fillText(row.name, this.narrow ? this.left : 16, base);
    let right = this.narrow ? this.right : this.left - 14;
    pen.textAlign = "right";
    for (let run = row.lines.length - 1; run >= 0; run -= 1) {
      const value = valueAt(row.lines[run], this.time);
      if (value === null) continue;
      const words = row.words(value);
      pen.fillStyle = row.lines.length > 1 ? RUN_COLOURS[run] : "#dbe4ef";
      if (!this.narrow && row.lines.length > 1) {
        pen.fillText(words, right, base + (run === 0 ? -7 : 8));
      } else {
        pen.fillText(words, right, base);
        right -= pen.measureText(words).width + 10;
      }
    }
  }

  // Steps that share a pixel are drawn as their range.
  line(pen, line, y, colour) {
    pen.strokeStyle = colour;
    pen.lineWidth = 1.25;
    pen.beginPath();
    let column = null;
    const end = () => {
      if (!column) return;
      pen.lineTo(column.x, column.first);
      if (column.low !== column.high) {
        pen.lineTo(column.x, column.low);
        pen.lineTo(column.x, column.high);
      }
      pen.lineTo(column.x, column.last);
    };
    for (const [time, value] of line) {
      if (!Number.isFinite(value)) continue;
      const x = Math.round(2 * this.x(time)) / 2;
      const at = y(value);
      if (column?.x !== x) {
        end();
        column = { x, first: at, low: at, high: at, last: at };
      }
      column.low = Math.min(column.low, at);
      column.high = Math.max(column.high, at);
      column.last = at;
    }
    end();
    pen.stroke();
  }

  bands(pen, row, y, bottom) {
    const times = row.lines[0];
    const sums = new Float64Array(times.length);
    for (const { colour, column } of row.bands) {
      pen.fillStyle = colour;
      times.forEach(([time], i) => {
        const value = column[i + 1];
        if (!(value > 0)) return;
        const from = i ? this.x(times[i - 1][0]) : this.left;
        const low = y(sums[i]);
        sums[i] += value;
        pen.fillRect(from, y(sums[i]), Math.max(0.6, this.x(time) - from), low - y(sums[i]));
      });
    }
    pen.fillStyle = FAINT;
    pen.fillRect(this.left, bottom, this.right - this.left, 1);
  }
}
