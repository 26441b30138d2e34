// Shared checks of the page.

import assert from "node:assert/strict";
import { look } from "./browser.js";

const PATIENCE = { timeout: 60000 };

export const frameIs = (page, frame) => page.waitForFunction((f) => document.body.dataset.frame === String(f), frame, PATIENCE);
export const shownIs = (page, shown) => page.waitForFunction((s) => document.body.dataset.shown === s, shown, PATIENCE);

export async function notBlank(page) {
  const seen = await look(page);
  assert.ok(seen.water > 150 && seen.colours > 20, JSON.stringify(seen));
  return seen;
}

// Everything is inside the window, and buttons are large enough for a finger.
export async function fits(page) {
  const outside = await page.evaluate(() => {
    const faults = [];
    if (document.documentElement.scrollWidth > innerWidth) faults.push("the page is wider than the window");
    for (const element of document.querySelectorAll("button, canvas, #legend, #labels h1")) {
      const { left, top, right, bottom, width, height } = element.getBoundingClientRect();
      if (!width) continue;
      if (left < -0.5 || top < -0.5 || right > innerWidth + 0.5 || bottom > innerHeight + 0.5) faults.push(`${element.id} is outside`);
      if (element.tagName === "BUTTON" && height < 32) faults.push(`${element.id} is ${height} pixels high`);
    }
    return faults;
  });
  assert.deepEqual(outside, []);
}

// State of the visible toggles, as exposed to assistive technology.
export function pressed(page) {
  return page.evaluate(() => {
    const state = (id) => {
      const button = document.getElementById(id);
      return button.hidden ? null : button.getAttribute("aria-pressed");
    };
    return { surface: state("surface"), solids: state("solids"), plots: state("plots") };
  });
}

// A toggle that is on looks different from one that is off.
export async function togglesLookDifferent(page) {
  const look = () =>
    page.locator("#plots").evaluate((button) => {
      button.blur();
      const { backgroundColor, borderColor } = getComputedStyle(button);
      return `${button.getAttribute("aria-pressed")} ${backgroundColor} ${borderColor}`;
    });
  await page.mouse.move(1, 1);
  const on = await look();
  await page.keyboard.press("p");
  const off = await look();
  await page.keyboard.press("p");
  assert.ok(on.startsWith("true ") && off.startsWith("false "), `${on}, ${off}`);
  assert.notEqual(on.slice(5), off.slice(6), "they look the same");
}

// The text of the legend is inside it and not covered, and indicates that higher values have the last colour.
export async function legendIsWhole(page) {
  const faults = await page.evaluate(() => {
    const legend = document.getElementById("legend");
    const box = legend.getBoundingClientRect();
    const faults = [];
    for (const part of legend.children) {
      const { left, right, top, bottom, width } = part.getBoundingClientRect();
      if (!width) faults.push(`${part.id || part.tagName} is hidden`);
      if (left < box.left - 0.5 || right > box.right + 0.5) faults.push(`${part.id || part.tagName} is clipped`);
      if (left < 0 || right > innerWidth) faults.push(`${part.id || part.tagName} is outside`);
      for (const other of document.querySelectorAll("#tools button, #labels h1, #labels p")) {
        const o = other.getBoundingClientRect();
        if (!o.width || !other.textContent) continue;
        const range = document.createRange();
        range.selectNodeContents(other);
        const t = other.tagName === "BUTTON" ? o : range.getBoundingClientRect();
        if (t.left < right && t.right > left && t.top < bottom && t.bottom > top) faults.push(`it is over ${other.id || other.tagName}`);
      }
    }
    if (!document.getElementById("legend-high").textContent.startsWith("≥")) faults.push("it does not indicate higher values");
    return faults;
  });
  assert.deepEqual(faults, []);
}

// In 2D, labels are beside the picture: the pixels behind them are empty.
export async function clearOfLabels(page) {
  const words = await page.locator("#labels > div").first().evaluate((box) => {
    const rects = [...box.children].filter((line) => line.textContent).map((line) => {
      const range = document.createRange();
      range.selectNodeContents(line);
      return range.getBoundingClientRect();
    });
    const edge = (side, pick) => pick(...rects.map((rect) => rect[side]));
    const [x, y] = [edge("left", Math.min), edge("top", Math.min)];
    return { x, y, width: edge("right", Math.max) - x, height: edge("bottom", Math.max) - y };
  });
  await page.evaluate(() => (document.getElementById("labels").style.visibility = "hidden"));
  const picture = await page.screenshot({ clip: words });
  await page.evaluate(() => (document.getElementById("labels").style.visibility = ""));
  const colours = await page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const pen = new OffscreenCanvas(image.width, image.height).getContext("2d");
    pen.drawImage(image, 0, 0);
    const { data } = pen.getImageData(0, 0, image.width, image.height);
    const colours = new Set();
    for (let i = 0; i < data.length; i += 4) colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return colours.size;
  }, picture.toString("base64"));
  assert.equal(colours, 1, "the picture is behind the labels");
}

export async function scrubAndPlay(page, frames) {
  await page.keyboard.press("End");
  await shownIs(page, String(frames));
  await page.keyboard.press("Home");
  await shownIs(page, "0");
  await page.keyboard.press("ArrowRight");
  await shownIs(page, "1");
  const box = await page.locator("#timeline").boundingBox();
  await page.mouse.click(box.x + box.width - 40, box.y + 12);
  const near = Number(await page.evaluate(() => document.body.dataset.frame));
  assert.ok(near > frames / 2, `the timeline led to frame ${near}`);
  await page.mouse.click(box.x + box.width - 40, box.y + box.height - 12);
  assert.equal(Number(await page.evaluate(() => document.body.dataset.frame)), near, "plots share its axis");
  await page.keyboard.press("Home");
  await page.keyboard.press(" ");
  await frameIs(page, frames);
  await shownIs(page, String(frames));
}

export async function turned(page) {
  const before = await page.locator("#view").screenshot();
  const { x, y, width, height } = await page.locator("#view").boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 2 + 90, y + height / 2 - 30, { steps: 4 });
  await page.mouse.up();
  await page.waitForTimeout(600);
  const after = await page.locator("#view").screenshot();
  assert.ok(!before.equals(after), "dragging changed nothing");
  await page.keyboard.press("r");
}

// Two fingers that move apart zoom in.
export async function pinched(page) {
  const tools = await page.context().newCDPSession(page);
  const touch = (type, reach) =>
    tools.send("Input.dispatchTouchEvent", {
      type,
      touchPoints: type === "touchEnd" ? [] : [{ x: 195 - reach, y: 300, id: 0 }, { x: 195 + reach, y: 300, id: 1 }],
    });
  const before = (await look(page)).water;
  await touch("touchStart", 40);
  for (const reach of [60, 80, 100, 120]) await touch("touchMove", reach);
  await touch("touchEnd");
  await page.waitForTimeout(800);
  const after = (await look(page)).water;
  assert.ok(after > 1.2 * before, `${before} pixels of water before, ${after} after`);
}
