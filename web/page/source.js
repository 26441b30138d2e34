// Data source of the page: the server, or the document of a report.

import { unpacked } from "./packed.js";

class Server {
  live = true;
  report = null;

  async ask(address) {
    const response = await fetch(address, { cache: "no-store" });
    if (!response.ok) throw new Error(await response.text());
    return response;
  }

  async json(address) {
    return (await this.ask(address)).json();
  }

  async bytes(address) {
    return (await this.ask(address)).arrayBuffer();
  }
}

class Embedded {
  live = false;

  constructor(answers) {
    this.answers = answers;
    this.report = answers.report;
    this.blocks = new Map();
    for (const block of document.querySelectorAll("script[data-address]")) {
      this.blocks.set(block.dataset.address, block);
    }
  }

  async json(address) {
    return this.answers[address];
  }

  async bytes(address) {
    const block = this.blocks.get(address);
    if (!block) throw new Error("not in the report");
    const text = atob(block.textContent);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
    return "packed" in block.dataset ? unpacked(bytes) : bytes.buffer;
  }
}

export function openSource() {
  const answers = document.getElementById("answers");
  return answers ? new Embedded(JSON.parse(answers.textContent)) : new Server();
}
