// Decoder of particles and meshes; crates/app/src/viewer/wire.rs has the tables.

const PARTICLES_HEADER = 60;
const MESH_HEADER = 40;

function opened(buffer, magic, header) {
  const view = new DataView(buffer);
  const found = buffer.byteLength < header ? "" : String.fromCharCode(...new Uint8Array(buffer, 0, 4));
  if (found !== magic) throw new Error("unexpected response");
  return view;
}

function corners(view, offset) {
  const number = (i) => view.getFloat32(offset + 4 * i, true);
  const low = [number(0), number(1), number(2)];
  return { low, size: [number(3) - low[0], number(4) - low[1], number(5) - low[2]] };
}

export function decodeParticles(buffer) {
  const view = opened(buffer, "MNVP", PARTICLES_HEADER);
  const count = view.getUint32(8, true);
  if (buffer.byteLength !== PARTICLES_HEADER + 8 * count) throw new Error("incomplete frame");
  return {
    frame: view.getUint32(4, true),
    count,
    total: view.getUint32(12, true),
    seen: view.getUint32(16, true),
    time: view.getFloat32(20, true),
    fastest: view.getFloat32(24, true),
    ...corners(view, 28),
    pressures: [view.getFloat32(52, true), view.getFloat32(56, true)],
    data: new Uint16Array(buffer, PARTICLES_HEADER, 4 * count),
  };
}

export function decodeMesh(buffer) {
  const view = opened(buffer, "MNVM", MESH_HEADER);
  const vertices = view.getUint32(4, true);
  const triangles = view.getUint32(8, true);
  if (buffer.byteLength !== MESH_HEADER + 12 * (vertices + triangles)) throw new Error("incomplete mesh");
  return {
    ...corners(view, 16),
    positions: new Uint16Array(buffer, MESH_HEADER, 4 * vertices),
    normals: new Int8Array(buffer, MESH_HEADER + 8 * vertices, 4 * vertices),
    triangles: new Uint32Array(buffer, MESH_HEADER + 12 * vertices, 3 * triangles),
  };
}
