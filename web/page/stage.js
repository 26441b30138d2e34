// Scene: one canvas, one camera, one or two runs side by side.

import {
  BufferAttribute,
  BufferGeometry,
  DynamicDrawUsage,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  Mesh,
  MOUSE,
  OrbitControls,
  OrthographicCamera,
  PerspectiveCamera,
  Points,
  Scene,
  TOUCH,
  Vector3,
  WebGLRenderer,
} from "./three.min.mjs";
import { areaMaterial, floorMaterial, glassMaterial, particleMaterial, stoneMaterial, surfaceMaterial } from "./materials.js";

const BACKGROUND = 0x0b0f16;
// Largest diameter of points in pixels, to limit overdraw.
const BIGGEST_POINT = 28;
const SHARPEST = 2;
// Colour of cloth without one of its own.
const CLOTH = [0.62, 0.16, 0.1];
// During motion, pictures slower than this, in milliseconds, are drawn at a lower resolution; at rest, the picture is
// drawn again at full resolution.
const SLOW = 85;
const REST = 400;
// Pixels above and below the picture of a 2D run.
const ABOVE = 70;
const BELOW = 52;
const COARSER = [[1, SLOW], [0.75, SLOW], [0.5, 2 * SLOW]];

function boxEdges(size, flat) {
  const [x, y, z] = size;
  const corners = flat
    ? [[0, 0, 0], [x, 0, 0], [x, y, 0], [0, y, 0]]
    : [[0, 0, 0], [x, 0, 0], [x, y, 0], [0, y, 0], [0, 0, z], [x, 0, z], [x, y, z], [0, y, z]];
  const pairs = flat
    ? [0, 1, 1, 2, 2, 3, 3, 0]
    : [0, 1, 1, 2, 2, 3, 3, 0, 4, 5, 5, 6, 6, 7, 7, 4, 0, 4, 1, 5, 2, 6, 3, 7];
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(corners.flat()), 3));
  geometry.setIndex(pairs);
  return new LineSegments(geometry, new LineBasicMaterial({ color: flat ? 0x4a5c78 : 0x2c394d }));
}

function fillMesh(mesh, shape) {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(shape.positions, 4, true));
  geometry.setAttribute("normal", new BufferAttribute(shape.normals, 4, true));
  geometry.setIndex(new BufferAttribute(shape.triangles, 1));
  mesh.geometry.dispose();
  mesh.geometry = geometry;
  mesh.material.uniforms.low.value = shape.low;
  mesh.material.uniforms.size.value = shape.size;
}

function emptyMesh(material) {
  const mesh = new Mesh(new BufferGeometry(), material);
  mesh.frustumCulled = false;
  return mesh;
}

function floor([x, y]) {
  const mesh = emptyMesh(floorMaterial());
  mesh.renderOrder = -1;
  fillMesh(mesh, {
    low: [0, 0, 0],
    size: [x, y, 0],
    positions: new Uint16Array([0, 0, 0, 0, 65535, 0, 0, 0, 65535, 65535, 0, 0, 0, 65535, 0, 0]),
    normals: new Int8Array(16).map((_, i) => (i % 4 === 2 ? 127 : 0)),
    triangles: new Uint32Array([0, 1, 2, 0, 2, 3]),
  });
  return mesh;
}

// One run.
class RunView {
  constructor(about) {
    const { domain, dimension, dx, particles_per_cell: many } = about.settings;
    this.flat = dimension === 2;
    this.domain = [domain[0], domain[1], domain[2] ?? 0];
    this.spacing = dx / many ** (1 / dimension);
    this.scene = new Scene();
    this.scene.add(boxEdges(this.domain, this.flat));
    if (!this.flat) this.scene.add(floor(this.domain));
    this.points = new Points(new BufferGeometry(), particleMaterial(this.flat));
    this.points.frustumCulled = false;
    this.capacity = 0;
    this.scene.add(this.points);
    this.surface = emptyMesh(surfaceMaterial(about.liquidColor ?? undefined));
    this.surface.visible = false;
    this.scene.add(this.surface);
    this.solids = [];
    this.cloth = (about.cloth ?? []).map(({ color }) => {
      const mesh = emptyMesh(stoneMaterial(color ?? CLOTH));
      mesh.visible = false;
      this.scene.add(mesh);
      return { mesh, shape: null };
    });
    this.drawn = null;
  }

  addSolid(shape, { glass, color }, index) {
    const material = this.flat ? areaMaterial : glass ? glassMaterial : stoneMaterial;
    const mesh = emptyMesh(material(color ?? undefined));
    fillMesh(mesh, shape);
    mesh.material.uniforms.domain.value = this.domain;
    mesh.matrixAutoUpdate = false;
    mesh.renderOrder = glass ? 2 : 0;
    this.solids.push({ mesh, index });
    this.scene.add(mesh);
  }

  // `white` is the end of the colour map: speed, and pressure if that is shown.
  showParticles(frame, white) {
    const { uniforms } = this.points.material;
    if (this.drawn !== frame && frame) {
      if (frame.count > this.capacity) {
        this.capacity = Math.ceil(frame.count * 1.2);
        const attribute = new BufferAttribute(new Uint16Array(4 * this.capacity), 4, true);
        attribute.setUsage(DynamicDrawUsage);
        this.points.geometry.dispose();
        this.points.geometry = new BufferGeometry();
        this.points.geometry.setAttribute("particle", attribute);
      }
      const attribute = this.points.geometry.getAttribute("particle");
      if (attribute) {
        attribute.array.set(frame.data);
        attribute.clearUpdateRanges();
        attribute.addUpdateRange(0, frame.data.length);
        attribute.needsUpdate = true;
      }
      uniforms.low.value = frame.low;
      uniforms.size.value = frame.size;
      // Enlarged where particles were omitted.
      const share = frame.count ? (frame.total / frame.count) ** (1 / (this.flat ? 2 : 3)) : 1;
      uniforms.radius.value = (this.flat ? 0.95 : 0.66) * this.spacing * share;
    }
    this.drawn = frame;
    if (frame) {
      uniforms.speedScale.value = frame.fastest / white.speed;
      uniforms.pressures.value = [white.pressure, ...frame.pressures];
    }
    this.points.visible = Boolean(frame?.count) && !this.surface.visible;
  }

  // From outside the domain only particles that are not occluded need to be drawn.
  choose(eye) {
    const inside = !this.flat && eye.every((x, axis) => x > 0 && x < this.domain[axis]);
    if (this.drawn) this.points.geometry.setDrawRange(0, inside ? this.drawn.count : this.drawn.seen);
  }

  showSurface(shape) {
    if (shape && this.shape !== shape) fillMesh(this.surface, shape);
    this.shape = shape;
    this.surface.visible = Boolean(shape);
  }

  showCloth(piece, shape) {
    const cloth = this.cloth[piece];
    if (shape && cloth.shape !== shape) fillMesh(cloth.mesh, shape);
    cloth.shape = shape;
    cloth.mesh.visible = Boolean(shape?.triangles.length);
  }

  // `poses` lists the frames in which the solids are posed differently than in the frame before.
  pose(frame, poses) {
    const entry = poses?.findLast((pose) => pose.frame <= frame) ?? poses?.[0];
    if (!entry) return;
    for (const { mesh, index } of this.solids) {
      const r = entry.solids[index];
      mesh.matrix = new Matrix4().set(r[0], r[1], r[2], r[9], r[3], r[4], r[5], r[10], r[6], r[7], r[8], r[11], 0, 0, 0, 1);
      mesh.matrixWorldNeedsUpdate = true;
    }
  }
}

export class Stage {
  constructor(canvas, abouts) {
    this.canvas = canvas;
    this.renderer = new WebGLRenderer({ canvas, antialias: false, powerPreference: "high-performance" });
    this.renderer.setClearColor(BACKGROUND);
    this.renderer.autoClear = false;
    this.runViews = abouts.map((about) => new RunView(about));
    this.flat = this.runViews[0].flat;
    this.extent = [0, 1, 2].map((axis) => Math.max(...this.runViews.map((runView) => runView.domain[axis])));
    this.camera = this.flat ? new OrthographicCamera() : new PerspectiveCamera(30, 1, 0.01, 100);
    this.camera.up.set(0, this.flat ? 1 : 0, this.flat ? 0 : 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => this.changed());
    if (this.flat) {
      this.controls.enableRotate = false;
      this.controls.mouseButtons.LEFT = MOUSE.PAN;
      this.controls.touches.ONE = TOUCH.PAN;
    }
    this.sharpest = Math.min(window.devicePixelRatio || 1, SHARPEST);
    this.sharpness = this.sharpest;
    this.moving = this.sharpest;
    this.pace = 0;
    this.drawnAt = 0;
    this.restsSince = 0;
    this.refining = false;
    this.dirty = true;
    this.moved = false;
    this.resize();
    this.reset();
    this.controls.addEventListener("start", () => (this.moved = true));
    new ResizeObserver(() => this.resize()).observe(canvas);
  }

  changed() {
    this.dirty = true;
  }

  // Side by side, or stacked in a narrow window.
  get stacked() {
    return this.runViews.length > 1 && this.width < this.height;
  }

  get panes() {
    const { width, height } = this;
    if (this.runViews.length === 1) return [[0, 0, width, height]];
    if (this.stacked) return [[0, height / 2, width, height / 2], [0, 0, width, height / 2]];
    return [[0, 0, width / 2, height], [width / 2, 0, width / 2, height]];
  }

  resize() {
    this.width = Math.max(1, this.canvas.clientWidth);
    this.height = Math.max(1, this.canvas.clientHeight);
    this.renderer.setPixelRatio(this.sharpness);
    this.renderer.setSize(this.width, this.height, false);
    this.fit();
    // Until the user changes the view, it shows the whole domain.
    if (!this.moved) this.reset();
    this.changed();
  }

  // Camera for the aspect ratio of a pane.
  fit() {
    const [, , width, height] = this.panes[0];
    const aspect = width / height;
    if (this.flat) {
      const [x, y] = this.extent;
      // In 2D, labels are above the picture, legend and buttons below it.
      const free = Math.max(0.4 * height, height - ABOVE - BELOW);
      const half = 0.5 * Math.max((y * 1.03 * height) / free, (x * 1.08) / aspect);
      this.lift = ((ABOVE - BELOW) / height) * half;
      Object.assign(this.camera, { left: -half * aspect, right: half * aspect, top: half, bottom: -half, near: 0.01, far: 100 });
    } else {
      this.camera.aspect = aspect;
    }
    this.camera.updateProjectionMatrix();
  }

  reset() {
    const [x, y, z] = this.extent;
    const middle = new Vector3(x / 2, y / 2, z / 2);
    if (this.flat) {
      middle.y += this.lift;
      this.camera.position.set(middle.x, middle.y, 10);
      this.camera.zoom = 1;
      this.camera.updateProjectionMatrix();
    } else {
      const toward = new Vector3(-0.42, -1, 0.4).normalize();
      this.camera.position.copy(middle).addScaledVector(toward, this.wholeFrom(middle, toward));
      const reach = 0.5 * Math.hypot(x, y, z);
      Object.assign(this.camera, { near: 0.02 * reach, far: 60 * reach });
      this.camera.updateProjectionMatrix();
    }
    this.controls.target.copy(middle);
    this.moved = false;
    this.controls.update();
    this.changed();
  }

  // Distance of the camera at which every corner of the domain is visible.
  wholeFrom(middle, toward) {
    const right = new Vector3(0, 0, 1).cross(toward).normalize();
    const up = toward.clone().cross(right);
    const tall = Math.tan((this.camera.fov * Math.PI) / 360) * 0.88;
    const wide = tall * this.camera.aspect;
    let distance = 0;
    for (let corner = 0; corner < 8; corner += 1) {
      const at = new Vector3(...this.extent.map((side, axis) => (corner >> axis) % 2 * side)).sub(middle);
      const nearer = at.dot(toward);
      distance = Math.max(distance, nearer + Math.abs(at.dot(up)) / tall, nearer + Math.abs(at.dot(right)) / wide);
    }
    return distance;
  }

  zoom(factor) {
    this.moved = true;
    if (this.flat) {
      this.camera.zoom = Math.min(50, Math.max(0.2, this.camera.zoom * factor));
      this.camera.updateProjectionMatrix();
    } else {
      const away = this.camera.position.clone().sub(this.controls.target).multiplyScalar(1 / factor);
      this.camera.position.copy(this.controls.target).add(away);
    }
    this.controls.update();
    this.changed();
  }

  turn(angle) {
    if (this.flat) return;
    this.moved = true;
    const away = this.camera.position.clone().sub(this.controls.target);
    away.applyAxisAngle(new Vector3(0, 0, 1), angle);
    this.camera.position.copy(this.controls.target).add(away);
    this.controls.update();
    this.changed();
  }

  showSolids(visible) {
    for (const runView of this.runViews) for (const { mesh } of runView.solids) mesh.visible = visible;
    this.changed();
  }

  setSharpness(sharpness) {
    if (sharpness === this.sharpness) return;
    this.sharpness = sharpness;
    this.renderer.setPixelRatio(sharpness);
    this.changed();
  }

  // Resolution of the next picture.
  adapt(now) {
    if (!this.dirty) {
      this.restsSince ??= now;
      if (now - this.restsSince > REST && this.sharpness !== this.sharpest) {
        this.setSharpness(this.sharpest);
        this.refining = true;
      }
      return;
    }
    if (this.refining) {
      this.refining = false;
      return;
    }
    const rested = this.restsSince !== null && now - this.restsSince > REST;
    this.restsSince = null;
    this.setSharpness(this.moving);
    const passed = Math.min(now - this.drawnAt, 1000);
    this.pace = rested ? 0 : this.pace ? 0.7 * this.pace + 0.3 * passed : passed;
    const coarser = COARSER.find(([sharpness]) => sharpness < this.moving);
    if (coarser && this.pace > coarser[1]) {
      this.moving = coarser[0];
      this.pace = 0;
    }
  }

  // Draws if something has changed; returns whether it did.
  draw(now) {
    this.adapt(now);
    if (!this.dirty) return false;
    this.dirty = false;
    this.drawnAt = now;
    const reach = 0.5 * Math.hypot(...this.extent);
    const away = this.flat ? 10 : this.camera.position.distanceTo(new Vector3(...this.extent.map((side) => side / 2)));
    this.renderer.setScissorTest(true);
    this.panes.forEach(([x, y, width, height], i) => {
      const { uniforms } = this.runViews[i].points.material;
      this.runViews[i].choose(this.camera.position.toArray());
      uniforms.height.value = height * this.sharpness;
      uniforms.biggest.value = BIGGEST_POINT * this.sharpness * (this.flat ? 1.5 : 1);
      uniforms.nearFar.value = this.flat ? [0, 1e6] : [away - reach, away + reach];
      this.renderer.setViewport(x, y, width, height);
      this.renderer.setScissor(x, y, width, height);
      this.renderer.clear();
      this.renderer.render(this.runViews[i].scene, this.camera);
    });
    return true;
  }
}
