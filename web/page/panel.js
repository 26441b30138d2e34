// Dialog: keyboard shortcuts, or details of the runs.

import { PHASE_COLOURS, percent, phaseSeconds } from "./plots.js";

const KEYS = [
  ["space", "play or pause"],
  ["← →", "previous and next frame; with Shift, ten frames"],
  ["home end", "first and last frame"],
  ["+ −", "zoom in and out"],
  ["A D", "rotate left and right"],
  ["R", "reset the view"],
  ["S", "show or hide solids"],
  ["P", "show or hide plots"],
  ["C", "colour by speed or by pressure"],
  ["B", "forces on the next body"],
  ["< >", "slower and faster"],
  ["I", "details of the run"],
  ["?", "show this list"],
];
const POINTER = [
  ["drag", "rotate; in 2D, pan"],
  ["scroll or pinch", "zoom"],
  ["right button, two fingers", "pan"],
  ["timeline, plots", "drag to move through time"],
];

function element(name, text, parent) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  parent?.append(made);
  return made;
}

function table(parent, lines, mark) {
  const made = element("table", undefined, parent);
  for (const [name, value, colour] of lines) {
    const row = element("tr", undefined, made);
    const first = element("td", undefined, row);
    if (colour) element("span", undefined, first).className = "swatch";
    if (colour) first.firstChild.style.background = colour;
    if (mark) for (const word of name.split(" ")) element(mark, word, first).after(" ");
    else first.append(name);
    element("td", value, row);
  }
}

function open(fill) {
  const dialog = document.getElementById("panel");
  const text = document.getElementById("panel-text");
  text.replaceChildren();
  fill(text);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

export function showKeys(surfaces) {
  open((text) => {
    element("h2", "Keyboard", text);
    table(text, surfaces ? [...KEYS, ["M", "surface or particles"]] : KEYS, "kbd");
    element("h3", "Mouse and touch", text);
    table(text, POINTER);
    element("h3", "Colour", text);
    element("p", "Particles are coloured by speed or by pressure; press C or click the legend to switch. Frames of older runs have no pressure.", text);
  });
}

function highest(column) {
  return column.reduce((most, x) => Math.max(most, x), 0);
}

function number(x) {
  return x.toLocaleString("en", { maximumSignificantDigits: 5 });
}

function summary(now) {
  const { steps } = now;
  const count = steps.time.length;
  if (!count) return [["steps", "none yet"]];
  const mean = (column) => column.reduce((sum, x) => sum + x, 0) / count;
  const rigid = steps.contacts && !steps.cycles;
  const quality = rigid
    ? [
        ["largest residual", `${highest(steps.residual).toExponential(2)} m/s`],
        ["contacts", `at most ${number(highest(steps.contacts))}, in at most ${number(highest(steps.islands))} islands`],
        ["position error", `at most ${highest(steps.positionError).toExponential(2)} m, overlap at most ${highest(steps.penetration).toExponential(2)} m`],
      ]
    : [
        ["largest residual", `${highest(steps.residual).toExponential(2)} 1/s`],
        ...(steps.cycles ? [["contacts", `at most ${number(highest(steps.contacts))}, in at most ${number(highest(steps.islands))} islands`]] : []),
        ["volume", `${percent(100 * steps.drift.at(-1))} at the end, ${(100 * steps.thin.at(-1)).toFixed(2)} % of it thinner than a cell`],
      ];
  return [
    ["steps", `${number(count)}, ${number(steps.converged)} solves converged`],
    ["solver", `${steps.solver}, ${mean(steps.outer).toFixed(1)} outer and ${mean(steps.inner).toFixed(1)} inner iterations per step, at most ${highest(steps.outer)} and ${highest(steps.inner)}`],
    ["unknowns", `at most ${number(highest(steps.unknowns))}`],
    ...quality,
    ["speed", `at most ${number(highest(steps.speed))} m/s`],
    ["retries", `${number(steps.retries.reduce((sum, x) => sum + x, 0))} steps`],
  ];
}

export function showDetails(runs, report) {
  open((text) => {
    for (const { about, now } of runs) {
      const { settings } = about;
      element("h2", about.scene, text);
      table(text, [
        ["folder", about.folder],
        ["state", now.error ? `${now.state}: ${now.error}` : now.state],
        ["frames", `${now.frames.at(-1) ?? 0} of ${now.framesAsked}, ${number(settings.frame_rate)} per second`],
        ...(about.rigid
          ? [["bodies", `${number(about.rigid)}, with ${number(about.solids.length - about.rigid)} solids`]]
          : [
              ["particles", number(now.steps.particles.at(-1) ?? 0)],
              ["grid", `${settings.cells.join(" × ")} cells of ${number(1000 * settings.dx)} mm`],
              ...(about.bodies ? [["bodies", `${number(about.bodies)}, with ${number(about.solids.length - about.bodies)} solids`]] : []),
              ["walls", settings.physics.walls.kind],
              ["transfer", settings.physics.particles.transfer],
            ]),
        ["computed with", `meniscus ${about.version}, ${about.threads} ${about.threads === 1 ? "thread" : "threads"}, ${number(now.wallSeconds)} s`],
      ]);
      for (const { message, remedy } of now.warnings) element("p", `Warning: ${message}; ${remedy}.`, text);
      for (const note of now.notes) element("p", `${note}.`, text);
      if (about.solidsMissing) element("p", about.solidsMissing, text);
      element("h3", "Solver", text);
      table(text, summary(now));
      const phases = [...phaseSeconds(now)]
        .map(([phase, column]) => [phase, column.reduce((sum, x) => sum + x, 0)])
        .filter(([, seconds]) => seconds >= 0.0005)
        .sort((a, b) => b[1] - a[1]);
      const all = phases.reduce((sum, [, seconds]) => sum + seconds, 0);
      element("h3", "Time", text);
      table(text, phases.map(([phase, seconds]) => [phase, `${seconds.toFixed(2)} s, ${((100 * seconds) / all).toFixed(1)} %`, PHASE_COLOURS.get(phase)]));
      element("h3", "scene.toml", text);
      element("pre", about.sceneText, text);
    }
    if (report) {
      element("h3", "This report", text);
      table(text, [
        ["made by", report.program],
        ["on", report.machine],
        ["omitted", report.leftOut ?? "nothing"],
      ]);
    }
  });
}
