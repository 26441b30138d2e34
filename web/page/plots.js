// Data of the plots under the timeline, from columns of steps and phases.

export const RUN_COLOURS = ["#4fb3e8", "#e8a84f"];

// Phases in the order of the step; all others are summed.
const PHASES = [
  ["solve", "#4fb3e8"],
  ["assemble", "#3b7fc4"],
  ["pressure-contact", "#4fb3e8"],
  ["bodies", "#e0c35a"],
  ["to-grid", "#6fd08c"],
  ["advect", "#3fa58a"],
  ["surface", "#b7a3f0"],
  ["solids", "#8c7ad6"],
  ["write", "#e8a84f"],
  ["preview", "#d98383"],
];
const OTHERS = ["others", "#5c6b82"];
export const PHASE_COLOURS = new Map([...PHASES, OTHERS]);

function frameCount(now) {
  return Math.max(now.framesAsked, now.frames.at(-1) ?? 0, now.steps.frame.at(-1) ?? 0);
}

// Seconds of each frame by phase: one array per phase, by frame number.
export function phaseSeconds(now) {
  const count = frameCount(now) + 1;
  const seconds = new Map([...PHASE_COLOURS.keys()].map((phase) => [phase, new Float64Array(count)]));
  for (const [phase, column] of Object.entries(now.timings.phases)) {
    const sums = seconds.get(phase) ?? seconds.get(OTHERS[0]);
    column.forEach((value, i) => (sums[now.timings.frame[i]] += value));
  }
  return seconds;
}

function steps(now, column, of = (x) => x) {
  return now.steps.time.map((time, i) => [time, of(now.steps[column][i])]);
}

export function percent(x) {
  return `${x >= 0 ? "+" : "−"}${Math.abs(x).toFixed(Math.abs(x) < 0.1 ? 3 : 2)} %`;
}

function count(x) {
  return Math.round(x).toLocaleString("en");
}

function quantity(unit) {
  return (x) => `${x.toLocaleString("en", { maximumSignificantDigits: 3 })} ${unit}`;
}

// Small volumes in litres.
function volume(flat) {
  if (flat) return quantity("m²");
  return (x) => (Math.abs(x) < 0.1 ? quantity("L")(1000 * x) : quantity("m³")(x));
}

function energy(flat) {
  const unit = flat ? "J/m" : "J";
  return (x) => (Math.abs(x) >= 1000 ? quantity(`k${unit}`)(x / 1000) : Math.abs(x) < 1 ? quantity(`m${unit}`)(1000 * x) : quantity(unit)(x));
}

function power(exponent) {
  return (10 ** exponent).toExponential(1).replace("-", "−");
}

function length(x) {
  return x < 1e-3 ? quantity("µm")(1e6 * x) : quantity("mm")(1000 * x);
}

function seconds(x) {
  return x < 1 ? `${(1000 * x).toFixed(0)} ms` : `${x.toFixed(x < 10 ? 2 : 0)} s`;
}

// Names of the bodies whose forces are known.
export function bodiesOf(nows) {
  return [...new Set(nows.flatMap((now) => Object.keys(now.forces ?? {})))];
}

// Rows of the forces on a body: of the liquid if there is one, and of contacts.
function forces(nows, body, flat, wet) {
  if (body === undefined) return [];
  const words = quantity(flat ? "N/m" : "N");
  const row = (name, column) => ({
    name: `${name} on ${body}`,
    lines: nows.map((now) => (now.forces?.[body] ?? []).map((entry) => [entry[0], entry[column]])),
    words,
    from: 0,
  });
  return wet ? [row("liquid", 1), row("contacts", 2)] : [row("contacts", 2)];
}

// Rows of plots for the current runs. A row has a name, lines by run, or bands if there is one run, and a formatter of
// values. The forces are those on one body, by name.
export function rows(nows, rates, flat, body) {
  const lines = (column, of) => nows.map((now) => steps(now, column, of));
  const timed = nows.map((now, run) => {
    const phases = phaseSeconds(now);
    const last = now.timings.frame.at(-1) ?? 0;
    const total = [];
    for (let frame = 1; frame <= last; frame += 1) {
      let sum = 0;
      for (const column of phases.values()) sum += column[frame];
      total.push([frame / rates[run], sum]);
    }
    return { phases, total };
  });
  const wet = nows.every((now) => now.steps.cycles);
  const rigid = !wet && nows.every((now) => now.steps.contacts);
  const speed = { name: "max speed", lines: lines("speed"), words: quantity("m/s"), from: 0 };
  const kinetic = { name: rigid ? "kinetic energy" : "energy", lines: lines("energy"), words: energy(flat), from: 0 };
  const iterations = { name: "iterations", lines: lines("inner"), words: count, from: 0 };
  const residual = {
    name: rigid ? "residual (m/s)" : "residual",
    lines: lines("residual", (x) => Math.log10(Math.max(x, 1e-17))),
    words: power,
  };
  const time = {
    name: "frame time",
    lines: timed.map(({ total }) => total),
    bands: nows.length === 1 ? [...timed[0].phases].map(([phase, column]) => ({ colour: PHASE_COLOURS.get(phase), column })) : null,
    words: seconds,
    from: 0,
  };
  if (rigid) {
    return [
      speed,
      { name: "contacts", lines: lines("contacts"), words: count, from: 0 },
      { name: "islands", lines: lines("islands"), words: count, from: 0 },
      kinetic,
      { name: "total energy", lines: nows.map((now) => now.steps.time.map((t, i) => [t, now.steps.energy[i] + now.steps.potential[i]])), words: energy(flat) },
      iterations,
      residual,
      { name: "position error", lines: lines("positionError"), words: length, from: 0 },
      ...forces(nows, body, flat, false),
      time,
    ];
  }
  if (wet) {
    return [
      speed,
      { name: "contacts", lines: lines("contacts"), words: count, from: 0 },
      ...forces(nows, body, flat, true),
      kinetic,
      { name: "volume drift", lines: lines("drift", (x) => 100 * x), words: percent, around: 0 },
      { name: "separated volume", lines: lines("separatedVolume"), words: volume(flat), from: 0 },
      { name: "cycles", lines: lines("cycles"), words: count, from: 0 },
      residual,
      time,
    ];
  }
  return [
    speed,
    { name: "particles", lines: lines("particles"), words: count },
    kinetic,
    { name: "volume", lines: lines("volume"), words: volume(flat) },
    { name: "volume drift", lines: lines("drift", (x) => 100 * x), words: percent, around: 0 },
    iterations,
    residual,
    { name: "thin liquid", lines: lines("thin", (x) => 100 * x), words: (x) => `${x.toFixed(2)} %`, from: 0 },
    time,
  ];
}

// Value of a line at a time: that of the last step that began before it.
export function valueAt(line, time) {
  let low = 0;
  let high = line.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (line[middle][0] < time - 1e-9) low = middle + 1;
    else high = middle;
  }
  return line.length ? line[Math.min(low, line.length - 1)][1] : null;
}

// Range of a row, with a margin.
export function range(row) {
  let low = row.from ?? row.around ?? Infinity;
  let high = row.from ?? row.around ?? -Infinity;
  for (const line of row.lines) {
    for (const [, value] of line) {
      if (!Number.isFinite(value)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  if (low > high) return [0, 1];
  if (row.around !== undefined) {
    const reach = Math.max(Math.abs(low), Math.abs(high), 1e-3);
    return [-reach, reach];
  }
  const room = high - low || Math.abs(high) || 1;
  return [row.from ?? low - 0.1 * room, high + 0.08 * room];
}
