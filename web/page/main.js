// Viewer page: playback, keyboard and buttons.

import { Frames } from "./frames.js";
import { showDetails, showKeys } from "./panel.js";
import { bodiesOf, rows } from "./plots.js";
import { openSource } from "./source.js";
import { Stage } from "./stage.js";
import { Timeline } from "./timeline.js";
import { decodeMesh } from "./wire.js";

const AHEAD = 12;
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
// Milliseconds between polls of a run in progress, and of one that is not.
const SOON = 1000;
const LATER = 5000;

const by = (id) => document.getElementById(id);
const source = openSource();

async function loadRun(index) {
  const about = await source.json(`/run/${index}/about`);
  const now = await source.json(`/run/${index}/now`);
  return { index, about, now, fault: null };
}

class Viewer {
  constructor(runs) {
    this.runs = runs;
    this.time = 0;
    this.playing = false;
    this.speed = 1;
    this.last = performance.now();
    this.following = runs.some(({ now }) => now.state === "running");
    this.surface = false;
    // Whether the user has chosen between surface and particles.
    this.chosen = false;
    this.byPressure = false;
    this.drawn = [];
    this.stage = new Stage(by("view"), runs.map(({ about }) => about));
    this.timeline = new Timeline(by("timeline"), (time) => this.seek(time, true));
    for (const run of runs) {
      // Prefetched frames do not change the picture yet.
      const arrived = (frames, number) => {
        this.legend();
        if (frames.numberAt(this.frameOf(run)) === number) this.stage.changed();
      };
      run.particles = new Frames(source, run.index, "frame", arrived);
      run.meshes = new Frames(source, run.index, "surface", arrived);
      run.cloth = (run.about.cloth ?? []).map((_, piece) => new Frames(source, run.index, `cloth/${piece}`, arrived));
      run.label = this.label(run);
      this.loadSolids(run);
      this.take(run, run.now);
    }
    this.refresh();
    this.seek(this.following ? this.end : this.begin, false);
    this.controls();
    requestAnimationFrame((time) => this.tick(time));
    if (source.live) setTimeout(() => this.poll(), SOON);
  }

  // Frames per second of the timeline: those of the faster run.
  get rate() {
    return Math.max(...this.runs.map(({ about }) => about.settings.frame_rate));
  }

  get step() {
    return 1 / this.rate;
  }

  // Time of the first frame: zero, except for runs of older versions.
  get begin() {
    const first = ({ particles, about }) => (particles.numbers[0] ?? 0) / about.settings.frame_rate;
    return Math.min(...this.runs.map(first));
  }

  // Time of the last frame.
  get end() {
    return Math.max(this.begin, ...this.runs.map((run) => this.reach(run)));
  }

  reach(run) {
    return (run.particles.numbers.at(-1) ?? 0) / run.about.settings.frame_rate;
  }

  frameOf(run) {
    return Math.round(this.time * run.about.settings.frame_rate);
  }

  label(run) {
    const box = document.createElement("div");
    for (const name of ["h1", "p", "p"]) box.append(document.createElement(name));
    by("labels").append(box);
    const [title, line, fault] = box.children;
    fault.className = "fault";
    const { settings } = run.about;
    title.textContent = run.about.scene;
    const { rigid, bodies } = run.about;
    const many = `${bodies?.toLocaleString("en")} ${bodies === 1 ? "body" : "bodies"}`;
    const walls = `${settings.physics.walls.kind} walls`;
    run.subtitle = rigid ? many : bodies ? `${many}, ${walls}` : walls;
    return { title, line, fault };
  }

  async loadSolids(run) {
    const runView = this.stage.runViews[run.index];
    for (const [k, solid] of run.about.solids.entries()) {
      try {
        runView.addSolid(decodeMesh(await source.bytes(`/run/${run.index}/solid/${k}`)), solid, k);
      } catch (fault) {
        this.notice(`solid ${solid.name} can't be shown: ${fault.message}`);
      }
    }
    this.posed = null;
    this.stage.changed();
  }

  // Updates the data of a run.
  take(run, now) {
    run.now = now;
    run.particles.numbers = now.frames;
    run.meshes.numbers = now.surfaces ?? [];
    for (const cloth of run.cloth) cloth.numbers = now.frames;
    const hasSurface = this.runs.some(({ meshes }) => meshes?.numbers.length);
    by("surface").hidden = !hasSurface;
    if (!this.chosen) this.showSurfaces(hasSurface);
  }

  // Shows surfaces where available, or particles.
  showSurfaces(on) {
    this.surface = on;
    by("surface").setAttribute("aria-pressed", on);
    by("legend").hidden = on || this.runs.every(({ about }) => about?.rigid);
  }

  refresh() {
    const nows = this.runs.map(({ now }) => now);
    const rates = this.runs.map(({ about }) => about.settings.frame_rate);
    const bodies = bodiesOf(nows);
    this.timeline.rows = rows(nows, rates, this.stage.flat, bodies[(this.body ?? 0) % bodies.length]);
    this.timeline.length = Math.max(...this.runs.map(({ now, about }) => Math.max(now.framesAsked, now.frames.at(-1) ?? 0) / about.settings.frame_rate));
    this.timeline.marks = this.runs.map((run) => this.reach(run));
    this.legend();
    const running = this.runs.filter(({ now }) => now.state === "running");
    const odd = this.runs.find(({ now }) => ["failed", "killed", "interrupted"].includes(now.state));
    const state = by("state");
    state.classList.toggle("running", running.length > 0);
    const far = running.map(({ now }) => `${Math.floor((100 * (now.frames.at(-1) ?? 0)) / now.framesAsked)} %`);
    state.textContent = running.length ? `computing, ${far.join(" and ")}` : odd ? odd.now.state : "";
    this.timeline.ask();
    this.stage.changed();
  }

  // End of the colour map: a high percentile of the largest speeds, not that of a single drop, or of the largest pressures
  // of the loaded frames, not that of a single impact.
  legend() {
    const most = (values, least) => {
      const sorted = values.sort((a, b) => a - b);
      return Math.max(least, sorted[Math.floor(0.7 * sorted.length)] ?? least);
    };
    const kept = this.runs.flatMap(({ particles }) => [...(particles?.kept.values() ?? [])]);
    const pressures = kept.filter((frame) => frame.pressures?.[1] > 0).map((frame) => frame.pressures[1]);
    by("legend").disabled = !pressures.length;
    const speed = 0.8 * most(this.runs.flatMap(({ now }) => now.steps.speed), 1.25e-3);
    const pressure = this.byPressure && pressures.length ? most(pressures, 1e-3) : 0;
    if (speed === this.white?.speed && pressure === this.white?.pressure) return;
    this.white = { speed, pressure };
    const unit = pressure >= 1000 ? [pressure / 1000, "kPa"] : pressure ? [pressure, "Pa"] : [speed, "m/s"];
    // Higher values have the last colour as well.
    by("legend-high").textContent = `≥ ${Number(unit[0].toPrecision(2))} ${unit[1]}`;
    by("legend-what").textContent = pressure ? "pressure" : "speed";
    this.stage.changed();
  }

  seek(time, byHand) {
    const first = Math.round(this.begin * this.rate);
    const frame = Math.min(Math.max(first, Math.round(time * this.rate)), Math.round(this.end * this.rate));
    this.time = frame * this.step;
    if (byHand) this.following = frame === Math.round(this.end * this.rate);
    this.timeline.time = this.time;
    this.timeline.ask();
    const whole = Math.round(this.timeline.length * this.rate);
    // As many digits as needed to distinguish two frames.
    const digits = Math.max(2, Math.ceil(Math.log10(this.rate)));
    by("timeline").setAttribute("aria-valuemin", first);
    by("timeline").setAttribute("aria-valuenow", frame);
    by("timeline").setAttribute("aria-valuemax", whole);
    by("clock").innerHTML = `${frame} <span>/ ${whole} · ${this.time.toFixed(digits)} s</span>`;
    for (const run of this.runs) {
      const frames = this.surface && run.meshes.numbers.length ? run.meshes : run.particles;
      for (const wanted of [frames, ...run.cloth]) wanted.want(wanted.numberAt(this.frameOf(run)), this.playing ? AHEAD : 2);
    }
    document.body.dataset.frame = frame;
    this.stage.changed();
  }

  play(playing) {
    this.playing = playing;
    this.last = performance.now();
    if (playing && this.time >= this.end - 0.5 * this.step) this.seek(this.begin, true);
    by("play").setAttribute("aria-label", playing ? "pause" : "play");
    by("play-shape").setAttribute("d", playing ? "M6 4h4v16H6zM14 4h4v16h-4z" : "M7 4v16l13-8z");
    this.owed = 0;
  }

  setSpeed(speed) {
    this.speed = speed;
    by("speed").textContent = `${speed}×`;
  }

  // Whether all data of this time is loaded.
  get complete() {
    return this.runs.every((run) => {
      const has = (frames) => {
        const number = frames.numberAt(this.frameOf(run));
        return number === undefined || frames.kept.has(number);
      };
      return (this.surface || has(run.particles)) && run.cloth.every(has);
    });
  }

  tick(now) {
    requestAnimationFrame((time) => this.tick(time));
    // At most one frame per picture, so that none is skipped where drawing is slow; and none before it is loaded.
    if (this.playing && this.complete) {
      this.owed += Math.min(0.25, Math.max(0, now - this.last) / 1000) * this.playRate * this.speed;
      this.last = now;
      if (this.owed >= 1) {
        this.owed = Math.min(1, this.owed - 1);
        if (this.time >= this.end - 0.5 * this.step) this.play(false);
        else this.seek(this.time + this.step, true);
      }
    } else {
      this.last = now;
    }
    if (this.stage.dirty) this.show();
    if (this.stage.draw(now)) this.countPictures(now);
  }

  // High frame rates play in slow motion: at most 30 frames per second.
  get playRate() {
    return Math.min(30, this.rate);
  }

  // For measurements: pictures in the last second.
  countPictures(now) {
    this.drawn.push(now);
    while (this.drawn[0] < now - 1000) this.drawn.shift();
    document.body.dataset.rate = this.drawn.length;
  }

  show() {
    const shown = [];
    by("labels").className = this.runs.length < 2 ? "" : this.stage.stacked ? "rows" : "columns";
    for (const run of this.runs) {
      const runView = this.stage.runViews[run.index];
      const frame = this.frameOf(run);
      runView.pose(frame, run.now.poses);
      run.cloth.forEach((cloth, piece) => {
        const number = cloth.numberAt(frame);
        const found = number === undefined ? undefined : cloth.get(number);
        // The last one stays until the next one is loaded.
        if (found) runView.showCloth(piece, found.fault ? null : found);
      });
      const meshes = this.surface && run.meshes.numbers.length;
      const frames = meshes ? run.meshes : run.particles;
      const number = frames.numberAt(frame);
      const found = number === undefined ? undefined : frames.get(number);
      const good = found && !found.fault ? found : null;
      if (meshes) {
        // The last surface stays until the next one is loaded.
        if (found) runView.showSurface(good);
      } else {
        runView.showSurface(null);
        if (found) runView.showParticles(good, this.white);
        else if (runView.drawn) runView.showParticles(runView.drawn, this.white);
      }
      if (meshes) runView.points.visible = false;
      const many = runView.drawn && !run.about.rigid ? ` · ${runView.drawn.total.toLocaleString("en")} particles` : "";
      run.label.line.textContent = run.subtitle + many;
      const none = number === undefined ? "no frames yet" : "";
      run.label.fault.textContent = found?.fault ? `frame ${number} can't be shown: ${found.fault}` : none || run.about.solidsMissing || (run.now.warnings.length ? `warning: ${run.now.warnings[0].message}` : "");
      shown.push(good ? number : "none");
    }
    document.body.dataset.shown = shown.join(" ");
  }

  notice(words) {
    by("notice").hidden = !words;
    by("notice").textContent = words;
  }

  // Polls for new frames.
  async poll() {
    try {
      let news = false;
      for (const run of this.runs) {
        const now = await source.json(`/run/${run.index}/now?since=${run.now.revision}`);
        if (now.same) continue;
        if (now.sceneHash !== run.about.sceneHash) return window.location.reload();
        // Fewer frames than before: the run was restarted.
        if (now.frames.length < run.now.frames.length) for (const frames of [run.particles, ...run.cloth]) frames.forget();
        run.particles.retry();
        this.take(run, now);
        news = true;
      }
      this.notice("");
      if (news) this.refresh();
      if (news && this.following && !this.playing) this.seek(this.end, false);
    } catch {
      this.notice("the server has stopped; loaded frames remain available");
    }
    const soon = this.runs.some(({ now }) => now.state === "running");
    setTimeout(() => this.poll(), soon ? SOON : LATER);
  }

  toggle(id, act) {
    const button = by(id);
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", on);
    act(on);
  }

  controls() {
    const solids = () => this.toggle("solids", (on) => this.stage.showSolids(on));
    const plots = () =>
      this.toggle("plots", (on) => {
        this.timeline.open = on;
        this.timeline.ask();
      });
    const surface = () => {
      if (by("surface").hidden) return;
      this.chosen = true;
      this.showSurfaces(!this.surface);
      this.seek(this.time, false);
    };
    const colour = () => {
      this.byPressure = !this.byPressure;
      this.legend();
    };
    const faster = (by_) => this.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, SPEEDS.indexOf(this.speed) + by_))]);
    const hasSurface = () => !by("surface").hidden;
    by("solids").hidden = this.runs.every(({ about }) => !about.solids.length);
    by("play").onclick = () => this.play(!this.playing);
    by("solids").onclick = solids;
    by("plots").onclick = plots;
    by("surface").onclick = surface;
    by("legend").onclick = colour;
    by("reset").onclick = () => this.stage.reset();
    by("details").onclick = () => showDetails(this.runs, source.report);
    by("keys").onclick = () => showKeys(hasSurface());
    by("speed").onclick = () => this.setSpeed(SPEEDS[(SPEEDS.indexOf(this.speed) + 1) % SPEEDS.length]);
    const move = (frames) => {
      this.play(false);
      this.seek(this.time + frames * this.step, true);
    };
    const keys = {
      " ": () => this.play(!this.playing),
      ArrowLeft: (event) => move(event.shiftKey ? -10 : -1),
      ArrowRight: (event) => move(event.shiftKey ? 10 : 1),
      Home: () => this.seek(this.begin, true),
      End: () => this.seek(this.end, true),
      "+": () => this.stage.zoom(1.15),
      "=": () => this.stage.zoom(1.15),
      "-": () => this.stage.zoom(1 / 1.15),
      a: () => this.stage.turn(-0.12),
      d: () => this.stage.turn(0.12),
      r: () => this.stage.reset(),
      s: solids,
      p: plots,
      m: surface,
      c: colour,
      b: () => {
        this.body = (this.body ?? 0) + 1;
        this.refresh();
      },
      "<": () => faster(-1),
      ">": () => faster(1),
      i: () => showDetails(this.runs, source.report),
      "?": () => showKeys(hasSurface()),
    };
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || by("panel").open) return;
      // A focused button handles the space key itself.
      if (event.key === " " && event.target.tagName === "BUTTON") return;
      const act = keys[event.key] ?? keys[event.key.toLowerCase()];
      if (!act) return;
      event.preventDefault();
      act(event);
    });
  }
}

async function main() {
  const { runs } = await source.json("/runs");
  const loaded = await Promise.all(Array.from({ length: runs }, (_, index) => loadRun(index)));
  document.title = `${loaded.map(({ about }) => about.scene).join(" and ")} · meniscus`;
  new Viewer(loaded);
  document.body.dataset.ready = "yes";
}

main().catch((fault) => {
  by("notice").hidden = false;
  by("notice").textContent = `could not load the page: ${fault.message}`;
  document.body.dataset.ready = "no";
});
