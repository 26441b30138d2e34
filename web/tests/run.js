// The viewer in a real browser: `node tests/run.js [--full]`.
//
// MENISCUS is the program, CHROMIUM the browser; MENISCUS_PICTURES an optional folder for screenshots.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, Program } from "./browser.js";
import { full, usual } from "./pages.js";

const { MENISCUS, CHROMIUM, MENISCUS_PICTURES } = process.env;
if (!MENISCUS || !CHROMIUM) {
  console.error("MENISCUS and CHROMIUM must be the paths of the program and the browser");
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), "meniscus-pages-"));
if (MENISCUS_PICTURES) mkdirSync(MENISCUS_PICTURES, { recursive: true });
const program = new Program(MENISCUS, folder);
const browser = await launch(CHROMIUM);
const keep = async (page, name) => {
  if (MENISCUS_PICTURES) await page.screenshot({ path: join(MENISCUS_PICTURES, `${name}.png`) });
};

let failed = 0;
for (const [name, test] of process.argv.includes("--full") ? [...usual, ...full] : usual) {
  try {
    await test({ program, browser, keep, folder });
    console.log(`ok     ${name}`);
  } catch (fault) {
    failed += 1;
    console.log(`FAILED ${name}\n${fault.stack}`);
  }
}
await browser.close();
rmSync(folder, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
