// Decoder of the meshes of a report; crates/app/src/viewer/report/packed.rs has the table.

const HEADER = 40;

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const signed = (number) => (number >>> 1) ^ -(number & 1);

// Mesh in the encoding of the server.
export async function unpacked(bytes) {
  const packed = await inflated(bytes);
  const header = new DataView(packed.buffer, 0, HEADER);
  const vertices = header.getUint32(4, true);
  const triangles = header.getUint32(8, true);
  const buffer = new ArrayBuffer(HEADER + 12 * (vertices + triangles));
  new Uint8Array(buffer).set(packed.subarray(0, HEADER));
  const positions = new Uint16Array(buffer, HEADER, 4 * vertices);
  const normals = new Int8Array(buffer, HEADER + 8 * vertices, 4 * vertices);
  const corners = new Uint32Array(buffer, HEADER + 12 * vertices, 3 * triangles);
  let at = HEADER;
  for (let axis = 0; axis < 3; axis += 1, at += 2 * vertices) {
    for (let i = 0, sum = 0; i < vertices; i += 1) {
      sum += signed(packed[at + i] | (packed[at + vertices + i] << 8));
      positions[4 * i + axis] = sum;
    }
  }
  for (let axis = 0; axis < 3; axis += 1, at += vertices) {
    for (let i = 0, sum = 0; i < vertices; i += 1) {
      sum += packed[at + i];
      normals[4 * i + axis] = sum;
    }
  }
  for (let corner = 0; corner < 3; corner += 1, at += 4 * triangles) {
    for (let i = 0, first = 0; i < triangles; i += 1) {
      const byte = (plane) => packed[at + plane * triangles + i] << (8 * plane);
      const step = signed(byte(0) | byte(1) | byte(2) | byte(3));
      if (corner > 0) corners[3 * i + corner] = corners[3 * i] + step;
      else corners[3 * i] = first += step;
    }
  }
  return buffer;
}
