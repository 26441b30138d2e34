// What must be true of the page.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DESKTOP, look, PHONE } from "./browser.js";

const PATIENCE = { timeout: 60000 };
const SIZES = [["desktop", DESKTOP], ["phone", PHONE]];

// Runs are made once, with no preview.
function run(program, folder, out, ...words) {
  if (!existsSync(join(folder, out))) program.call("run", ...words, "--quiet", "--set", "output.preview=false", "--out", out);
}

const frameIs = (page, frame) => page.waitForFunction((f) => document.body.dataset.frame === String(f), frame, PATIENCE);
const shownIs = (page, shown) => page.waitForFunction((s) => document.body.dataset.shown === s, shown, PATIENCE);

// A page is open while `act` looks at it; afterwards nothing was wrong with it.
async function visit(browser, address, size, act, prepare) {
  const { page, faults } = await browser.open(address, size, prepare);
  try {
    await act(page);
    assert.deepEqual(faults, []);
  } finally {
    await page.close();
  }
}

async function viewed(program, words, act) {
  const { address, stop } = await program.view(...words);
  let code;
  try {
    await act(address);
  } finally {
    code = await stop();
  }
  assert.equal(code, 130);
}

async function notBlank(page) {
  const seen = await look(page);
  assert.ok(seen.water > 150 && seen.colours > 20, JSON.stringify(seen));
  return seen;
}

// Everything is inside the window, and buttons are large enough for a finger.
async function fits(page) {
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

// The state of the toggles that are there, as assistive programs are told.
function pressed(page) {
  return page.evaluate(() => {
    const state = (id) => {
      const button = document.getElementById(id);
      return button.hidden ? null : button.getAttribute("aria-pressed");
    };
    return { surface: state("surface"), solids: state("solids"), plots: state("plots") };
  });
}

// A toggle that is on looks different from one that is off.
async function togglesLookDifferent(page) {
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

// All words of the legend are inside it and in front of everything else, and it says that what is above has its last colour.
async function legendIsWhole(page) {
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
    if (!document.getElementById("legend-high").textContent.startsWith("≥")) faults.push("it does not say that colours end");
    return faults;
  });
  assert.deepEqual(faults, []);
}

// In the plane, labels are beside the picture: the rows of pixels behind them are empty.
async function clearOfLabels(page) {
  const words = await page.locator("#labels > div").first().evaluate((box) => {
    const range = document.createRange();
    range.selectNodeContents(box);
    const { left, top, right, bottom } = range.getBoundingClientRect();
    return { x: left, y: top, width: right - left, height: bottom - top };
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
  assert.equal(colours, 1, "something of the picture is behind the labels");
}

async function scrubAndPlay(page, frames) {
  await page.keyboard.press("End");
  await shownIs(page, String(frames));
  await page.keyboard.press("Home");
  await shownIs(page, "0");
  await page.keyboard.press("ArrowRight");
  await shownIs(page, "1");
  const box = await page.locator("#timeline").boundingBox();
  await page.mouse.click(box.x + box.width - 40, box.y + 12);
  const near = Number(await page.evaluate(() => document.body.dataset.frame));
  assert.ok(near > frames / 2, `the time line led to frame ${near}`);
  await page.mouse.click(box.x + box.width - 40, box.y + box.height - 12);
  assert.equal(Number(await page.evaluate(() => document.body.dataset.frame)), near, "plots share its axis");
  await page.keyboard.press("Home");
  await page.keyboard.press(" ");
  await frameIs(page, frames);
  await shownIs(page, String(frames));
}

async function turned(page) {
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

// Two fingers that move apart come nearer.
async function pinched(page) {
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

export const usual = [
  [
    "a run in the plane is shown, scrubbed and played, on a desktop",
    async ({ program, browser, keep, folder }) => {
      run(program, folder, "flat", "maze", "--resolution", "24", "--frames", "6");
      await viewed(program, ["flat"], (address) =>
        visit(browser, address, DESKTOP, async (page) => {
          await shownIs(page, "0");
          await notBlank(page);
          await fits(page);
          await clearOfLabels(page);
          await keep(page, "flat-desktop-first");
          await scrubAndPlay(page, 6);
          await keep(page, "flat-desktop");
        }),
      );
    },
  ],
  [
    "a report opens from a file on a phone, with nothing else",
    async ({ program, browser, keep, folder }) => {
      run(program, folder, "flat", "maze", "--resolution", "24", "--frames", "6");
      program.call("report", "flat", "--out", "flat.html");
      await visit(browser, `file://${join(folder, "flat.html")}`, PHONE, async (page) => {
        await shownIs(page, "0");
        await notBlank(page);
        await fits(page);
        await clearOfLabels(page);
        await scrubAndPlay(page, 6);
        await keep(page, "report-phone");
        await page.keyboard.press("i");
        const text = await page.locator("#panel").innerText();
        for (const words of ["scene.toml", "[domain]", "solver", "made by", "left out", "nothing"]) assert.ok(text.includes(words), words);
      });
    },
  ],
  [
    "a report of a run with surfaces shows them, on a desktop and on a phone",
    async ({ program, browser, keep, folder }) => {
      run(program, folder, "wet", "dam-break", "--resolution", "20", "--frames", "4", "--set", "output.surface=true");
      program.call("report", "wet", "--out", "wet.html");
      for (const [name, size] of SIZES) {
        await visit(browser, `file://${join(folder, "wet.html")}`, size, async (page) => {
          await shownIs(page, "0");
          assert.deepEqual(await pressed(page), { surface: "true", solids: null, plots: "true" }, "the surface comes first");
          assert.ok(await page.locator("#legend").isHidden(), "a surface has no colours to explain");
          await page.waitForTimeout(600);
          const surface = await notBlank(page);
          await page.locator("#surface").click();
          assert.equal((await pressed(page)).surface, "false");
          await page.keyboard.press("End");
          await shownIs(page, "4");
          await page.keyboard.press("Home");
          await shownIs(page, "0");
          await page.waitForTimeout(600);
          const particles = await notBlank(page);
          await legendIsWhole(page);
          await fits(page);
          await keep(page, `report-particles-${name}`);
          await page.locator("#surface").click();
          await page.waitForTimeout(600);
          const share = surface.water / particles.water;
          assert.ok(share > 0.8 && share < 1.3, `${particles.water} pixels of particles, ${surface.water} of the surface`);
          await fits(page);
          await keep(page, `report-surface-${name}`);
        });
      }
    },
  ],
];

export const full = [
  ...SIZES.map(([name, size]) => [
    `a run in space is shown, turned, scrubbed and played, on a ${name}`,
    async ({ program, browser, keep, folder }) => {
      run(program, folder, "separating", "thrown-sphere", "--resolution", "24", "--frames", "40");
      await viewed(program, ["separating"], (address) =>
        visit(browser, address, size, async (page) => {
          await shownIs(page, "0");
          await notBlank(page);
          await fits(page);
          await legendIsWhole(page);
          await togglesLookDifferent(page);
          await turned(page);
          if (size === PHONE) await pinched(page);
          await page.keyboard.press("r");
          await scrubAndPlay(page, 40);
          await keep(page, `space-${name}`);
          const withSolids = await look(page);
          await page.keyboard.press("s");
          await page.waitForTimeout(600);
          assert.notDeepEqual(await look(page), withSolids, "solids can be hidden");
          await page.keyboard.press("?");
          assert.ok((await page.locator("#panel").innerText()).includes("play or stop"));
          await keep(page, `keys-${name}`);
        }),
      );
    },
  ]),
  ...SIZES.map(([name, size]) => [
    `two runs are compared with one time line and one camera, on a ${name}`,
    async ({ program, browser, keep, folder }) => {
      run(program, folder, "separating", "thrown-sphere", "--resolution", "24", "--frames", "40");
      run(program, folder, "slip", "thrown-sphere", "--resolution", "24", "--frames", "40", "--walls", "slip");
      await viewed(program, ["separating", "slip"], (address) =>
        visit(browser, address, size, async (page) => {
          await page.keyboard.press("End");
          await shownIs(page, "40 40");
          await fits(page);
          const seen = await notBlank(page);
          if (size === DESKTOP) assert.ok(seen.left > 500 && seen.right > 500, JSON.stringify(seen));
          const titles = await page.locator("#labels").innerText();
          assert.ok(titles.includes("separating walls") && titles.includes("slip walls"), titles);
          await keep(page, `compare-${name}`);
        }),
      );
    },
  ]),
  [
    "a damaged frame is named in the page and the others are shown",
    async ({ program, browser, keep, folder }) => {
      run(program, folder, "damaged", "maze", "--resolution", "24", "--frames", "4");
      const file = join(folder, "damaged/particles/particles_000002.mpc");
      writeFileSync(file, readFileSync(file).subarray(0, 200));
      await viewed(program, ["damaged"], async (address) => {
        const { page } = await browser.open(address, DESKTOP);
        await shownIs(page, "0");
        await page.keyboard.press("ArrowRight");
        await shownIs(page, "1");
        await page.keyboard.press("ArrowRight");
        await page.waitForFunction(() => document.querySelector(".fault").textContent.includes("particles_000002.mpc is damaged"), null, PATIENCE);
        await keep(page, "damaged-desktop");
        await page.keyboard.press("ArrowRight");
        await shownIs(page, "3");
        assert.equal(await page.locator(".fault").innerText(), "");
        await page.close();
      });
    },
  ],
  [
    "a run that still computes is followed to its end",
    async ({ program, browser, keep, folder }) => {
      const child = program.start("run", "dam-break-2d", "--resolution", "64", "--frames", "60", "--quiet", "--out", "growing");
      const ended = new Promise((resolve) => child.on("exit", resolve));
      while (!existsSync(join(folder, "growing/particles/particles_000002.mpc"))) await new Promise((resolve) => setTimeout(resolve, 20));
      await viewed(program, ["growing"], (address) =>
        visit(browser, address, DESKTOP, async (page) => {
          const first = Number(await page.evaluate(() => document.body.dataset.frame));
          assert.ok(first < 60, `it was at frame ${first} when the page came`);
          await keep(page, "growing-desktop");
          assert.equal(await ended, 0);
          await shownIs(page, "60");
        }),
      );
    },
  ],
  [
    "surfaces are shown once a run lists them",
    async ({ program, browser, folder }) => {
      run(program, folder, "separating", "thrown-sphere", "--resolution", "24", "--frames", "40");
      await viewed(program, ["separating"], (address) =>
        visit(
          browser,
          address,
          DESKTOP,
          async (page) => {
            await page.waitForTimeout(1000);
            const surface = await notBlank(page);
            await page.locator("#surface").click();
            await shownIs(page, "0");
            await page.waitForTimeout(1000);
            const particles = await look(page);
            assert.ok(surface.water > particles.water, "the surface is that of the whole glass here");
          },
          async (page) => {
            // The mesh of the glass stands for that of the liquid.
            await page.route("**/run/0/now*", async (route) => {
              const response = await route.fetch();
              await route.fulfill({ response, json: { ...(await response.json()), surfaces: [1, 2] } });
            });
            await page.route("**/run/0/surface/*", async (route) => route.fulfill({ response: await route.fetch({ url: `${address}run/0/solid/0` }) }));
          },
        ),
      );
    },
  ],
  [
    "a hundred thousand particles are drawn in one call, those that others hide left out until one looks from inside",
    async ({ program, browser, keep, folder }) => {
      run(program, folder, "many", "dam-break", "--resolution", "90", "--frames", "5");
      await viewed(program, ["many"], (address) =>
        visit(
          browser,
          address,
          DESKTOP,
          async (page) => {
            await shownIs(page, "0");
            const calls = await page.evaluate(() => {
              window.drawn = [];
              document.dispatchEvent(new KeyboardEvent("keydown", { key: "d" }));
              return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(window.drawn))));
            });
            assert.equal(calls.length, 1, `points were drawn in ${calls.length} calls`);
            const many = (await page.locator("#labels p").first().innerText()).replace(/[^0-9]/g, "");
            assert.ok(Number(many) >= 100000 && calls[0] > 10000 && calls[0] <= Number(many), `${calls[0]} of ${many} particles`);
            const rate = await page.evaluate(async () => {
              let pictures = 0;
              const begun = performance.now();
              while (performance.now() - begun < 4000) {
                document.dispatchEvent(new KeyboardEvent("keydown", { key: "d" }));
                await new Promise((resolve) => requestAnimationFrame(resolve));
                pictures += 1;
              }
              return pictures / ((performance.now() - begun) / 1000);
            });
            console.log(`       ${many} particles, ${calls[0]} of them not hidden, are turned at ${rate.toFixed(1)} pictures a second`);
            await keep(page, "many-desktop");
            const all = await page.evaluate(async () => {
              window.drawn = [];
              for (let i = 0; i < 24; i += 1) document.dispatchEvent(new KeyboardEvent("keydown", { key: "+" }));
              await new Promise((resolve) => setTimeout(resolve, 1500));
              return window.drawn.at(-1);
            });
            assert.equal(all, Number(many), "from inside all of them are drawn");
          },
          (page) =>
            page.addInitScript(() => {
              const { getContext } = HTMLCanvasElement.prototype;
              HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
                const context = getContext.call(this, kind, ...more);
                if (kind === "webgl2" && !context.counted) {
                  context.counted = true;
                  const draw = context.drawArrays.bind(context);
                  context.drawArrays = (mode, first, count) => {
                    if (mode === context.POINTS) window.drawn?.push(count);
                    draw(mode, first, count);
                  };
                }
                return context;
              };
            }),
        ),
      );
    },
  ],
];
