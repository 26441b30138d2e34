// Browser and program for tests.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export async function launch(executablePath) {
  const profile = mkdtempSync(join(tmpdir(), "meniscus-browser-"));
  const context = await chromium.launchPersistentContext(profile, { executablePath, args: FLAGS, viewport: DESKTOP });
  return {
    // Page of this size that records script errors and requests to other origins.
    async open(address, size, prepare = async () => {}) {
      const page = await context.newPage();
      await page.setViewportSize(size);
      const faults = [];
      page.on("pageerror", (error) => faults.push(error.message));
      page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
      page.on("request", (request) => {
        const url = request.url();
        const own = url.startsWith("data:") || url.startsWith(address.startsWith("file:") ? address : new URL(address).origin);
        if (!own) faults.push(`external request to ${url}`);
      });
      await prepare(page);
      await page.goto(address);
      await page.waitForSelector("body[data-ready]", { timeout: 60000 });
      return { page, faults };
    },
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

export class Program {
  constructor(path, folder) {
    this.path = path;
    this.folder = folder;
  }

  call(...words) {
    const { status, stdout, stderr } = spawnSync(this.path, words, { cwd: this.folder, encoding: "utf8" });
    if (status !== 0) throw new Error(`meniscus ${words.join(" ")} ended with ${status}: ${stderr}`);
    return stdout;
  }

  start(...words) {
    return spawn(this.path, words, { cwd: this.folder, stdio: ["ignore", "pipe", "inherit"] });
  }

  // `meniscus view`, with its address once it is ready.
  async view(...words) {
    const child = this.start("view", ...words);
    const ended = new Promise((resolve) => child.on("exit", resolve));
    const address = await new Promise((resolve, reject) => {
      let said = "";
      child.stdout.on("data", (piece) => {
        said += piece;
        if (said.includes("\n")) resolve(said.trim());
      });
      ended.then((code) => reject(new Error(`meniscus view ended with ${code}`)));
    });
    const stop = async () => {
      child.kill("SIGINT");
      return ended;
    };
    return { address, stop };
  }
}

// Approximate number of pixels that differ from the background, and of colours.
export async function look(page, selector = "#view") {
  const picture = await page.locator(selector).screenshot();
  return page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    const { data } = pen.getImageData(0, 0, image.width, image.height);
    const colours = new Set();
    let water = 0;
    let left = 0;
    for (let i = 0; i < data.length; i += 4) {
      const [r, g, b] = [data[i], data[i + 1], data[i + 2]];
      colours.add(((r >> 4) << 8) | ((g >> 4) << 4) | (b >> 4));
      if (b > 90 && b > r + 40) {
        water += 1;
        if ((i / 4) % image.width < image.width / 2) left += 1;
      }
    }
    return { water, left, right: water - left, colours: colours.size };
  }, picture.toString("base64"));
}
