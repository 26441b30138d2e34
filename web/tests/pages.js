// Properties of the page.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DESKTOP, look, PHONE } from "./browser.js";
import { clearOfLabels, fits, legendIsWhole, notBlank, pinched, pressed, scrubAndPlay, shownIs, togglesLookDifferent, turned } from "./checks.js";

const PATIENCE = { timeout: 60000 };
const SIZES = [["desktop", DESKTOP], ["phone", PHONE]];

// Runs are computed once, without preview.
function run(program, folder, out, ...words) {
  if (!existsSync(join(folder, out))) program.call("run", ...words, "--quiet", "--set", "output.preview=false", "--out", out);
}

// Opens a page, calls `act`, and asserts that there were no errors.
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

export const usual = [
  [
    "a 2D run is shown, scrubbed and played, on a desktop",
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
    "a report opens from a file on a phone, without any other file",
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
        for (const words of ["scene.toml", "[domain]", "solver", "made by", "omitted", "nothing"]) assert.ok(text.includes(words), words);
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
          assert.deepEqual(await pressed(page), { surface: "true", solids: null, plots: "true" }, "the surface is shown first");
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
    `a 3D run is shown, rotated, scrubbed and played, on a ${name}`,
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
          assert.ok((await page.locator("#panel").innerText()).includes("play or pause"));
          await keep(page, `keys-${name}`);
        }),
      );
    },
  ]),
  ...SIZES.map(([name, size]) => [
    `two runs are compared with one timeline and one camera, on a ${name}`,
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
  ...SIZES.map(([name, size]) => [
    `a run that lost liquid shows a warning and plots thin liquid, on a ${name}`,
    async ({ program, browser, keep, folder }) => {
      // A piston in a closed box full of liquid.
      writeFileSync(join(folder, "piston.toml"), `[domain]
size = [1, 1]
resolution = 20
[time]
frames = 6
[[liquid]]
shape = { box = { low = [0, 0], high = [1, 1] } }
[[solid]]
shape = { box = { low = [-1, -1], high = [0, 2] } }
keyframes = [{ frame = 0, position = [0, 0] }, { frame = 6, position = [0.2, 0] }]
`);
      run(program, folder, "piston", "piston.toml");
      await viewed(program, ["piston"], (address) =>
        visit(browser, address, size, async (page) => {
          await shownIs(page, "0");
          await fits(page);
          const told = await page.locator(".fault").innerText();
          assert.ok(told.includes("warning: the liquid has lost") && told.includes("enclosed liquid"), told);
          await page.keyboard.press("End");
          await shownIs(page, "6");
          await keep(page, `warning-${name}`);
          await page.keyboard.press("i");
          const text = await page.locator("#panel").innerText();
          for (const words of ["Warning: the liquid has lost", "leave an outlet for the liquid", "thinner than a cell"]) assert.ok(text.includes(words), text);
        }),
      );
    },
  ]),
  [
    "a damaged frame is reported and the others are shown",
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
    "a run in progress is followed to its end",
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
            // The mesh of the glass serves as that of the liquid.
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
    "a hundred thousand particles are drawn in one call, without occluded ones unless the camera is inside",
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
            console.log(`       ${many} particles, ${calls[0]} of them visible, rotate at ${rate.toFixed(1)} pictures per second`);
            await keep(page, "many-desktop");
            const all = await page.evaluate(async () => {
              window.drawn = [];
              for (let i = 0; i < 24; i += 1) document.dispatchEvent(new KeyboardEvent("keydown", { key: "+" }));
              await new Promise((resolve) => setTimeout(resolve, 1500));
              return window.drawn.at(-1);
            });
            assert.equal(all, Number(many), "all of them are drawn from inside");
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
