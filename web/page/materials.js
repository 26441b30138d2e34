// Shaders of particles, solids and the surface of the liquid, cheap enough for software rendering.

import { DoubleSide, FrontSide, GLSL3, RawShaderMaterial } from "./three.min.mjs";

const BEGIN = "precision highp float;\n";

function material(parameters) {
  return new RawShaderMaterial({ glslVersion: GLSL3, ...parameters });
}

// Points drawn as spheres in one call: position, and in the fourth component one byte of speed above one of pressure.
export function particleMaterial(flat) {
  return material({
    uniforms: {
      low: { value: [0, 0, 0] },
      size: { value: [1, 1, 1] },
      radius: { value: 0.01 },
      height: { value: 1 },
      biggest: { value: 40 },
      speedScale: { value: 1 },
      // End of the colour map and the pressures of values 0 and 255; zero to colour by speed.
      pressures: { value: [0, 0, 0] },
      nearFar: { value: [0, 1] },
    },
    vertexShader: `${BEGIN}
      in vec4 particle;
      uniform mat4 modelViewMatrix, projectionMatrix;
      uniform vec3 low, size;
      uniform float radius, height, biggest, speedScale;
      uniform vec2 nearFar;
      uniform vec3 pressures;
      out vec3 colour;
      vec3 water(float s) {
        const vec3 a = vec3(0.08, 0.29, 0.66), b = vec3(0.12, 0.52, 0.84), c = vec3(0.5, 0.85, 0.92), d = vec3(0.97, 0.99, 1.0);
        return s < 0.35 ? mix(a, b, s / 0.35) : s < 0.7 ? mix(b, c, (s - 0.35) / 0.35) : mix(c, d, min(1.0, (s - 0.7) / 0.3));
      }
      void main() {
        vec4 seen = modelViewMatrix * vec4(low + particle.xyz * size, 1.0);
        gl_Position = projectionMatrix * seen;
        gl_PointSize = clamp(radius * projectionMatrix[1][1] * height / gl_Position.w, 1.5, biggest);
        float far = clamp((-seen.z - nearFar.x) / (nearFar.y - nearFar.x), 0.0, 1.0);
        float packed = floor(particle.w * 65535.0 + 0.5), speed = floor(packed / 256.0);
        float pressure = mix(pressures.y, pressures.z, (packed - 256.0 * speed) / 255.0);
        float shade = pressures.x > 0.0 ? pressure / pressures.x : speed / 255.0 * speedScale;
        colour = water(clamp(shade, 0.0, 1.0)) * mix(1.08, 0.6, far);
      }`,
    fragmentShader: `${BEGIN}
      in vec3 colour;
      out vec4 pixel;
      void main() {
        vec2 c = 2.0 * gl_PointCoord - 1.0;
        float r = dot(c, c);
        if (r > 1.0) discard;
        ${
          flat
            ? "pixel = vec4(colour, 1.0);"
            : `float light = dot(vec3(c.x, -c.y, sqrt(1.0 - r)), vec3(-0.36, 0.55, 0.75));
        pixel = vec4(colour * (0.42 + 0.66 * max(light, 0.0)), 1.0);`
        }
      }`,
  });
}

const MESH_VERTEX = `${BEGIN}
  in vec4 position;
  in vec4 normal;
  uniform mat4 modelMatrix, viewMatrix, projectionMatrix;
  uniform vec3 low, size;
  out vec3 place, outward, world;
  void main() {
    vec4 x = modelMatrix * vec4(low + position.xyz * size, 1.0);
    vec4 seen = viewMatrix * x;
    world = x.xyz;
    place = seen.xyz;
    outward = mat3(viewMatrix) * mat3(modelMatrix) * normal.xyz;
    gl_Position = projectionMatrix * seen;
  }`;

// `colour` is red, green and blue from 0 to 1.
function meshMaterial(fragment, colour, more) {
  return material({
    uniforms: {
      low: { value: [0, 0, 0] },
      size: { value: [1, 1, 1] },
      domain: { value: [1, 1, 1] },
      colour: { value: colour },
    },
    vertexShader: MESH_VERTEX,
    fragmentShader: `${BEGIN}
      in vec3 place, outward, world;
      uniform vec3 domain, colour;
      out vec4 pixel;
      void main() { ${fragment} }`,
    ...more,
  });
}

// Transparent, brighter at grazing angles.
export function glassMaterial(colour = [0.62, 0.76, 0.9]) {
  return meshMaterial(
    `float facing = abs(dot(normalize(outward), normalize(place)));
     float rim = 1.0 - facing;
     pixel = vec4(colour, 0.035 + 0.4 * rim * rim * rim);`,
    colour,
    { transparent: true, depthWrite: false, side: DoubleSide },
  );
}

export function stoneMaterial(colour = [0.36, 0.4, 0.47]) {
  return meshMaterial(
    `vec3 n = normalize(outward);
     if (dot(n, place) > 0.0) n = -n;
     float light = 0.45 + 0.55 * max(dot(n, normalize(vec3(-0.36, 0.55, 0.75))), 0.0);
     pixel = vec4(colour * light, 1.0);`,
    colour,
    { side: DoubleSide },
  );
}

// In 2D solids are areas, clipped to the domain.
export function areaMaterial(colour = [0.17, 0.21, 0.28]) {
  return meshMaterial(
    `if (any(lessThan(world.xy, vec2(0.0))) || any(greaterThan(world.xy, domain.xy))) discard;
     pixel = vec4(colour, 1.0);`,
    colour,
    { side: DoubleSide },
  );
}

export function surfaceMaterial(colour = [0.1, 0.45, 0.75]) {
  return meshMaterial(
    `vec3 n = normalize(outward);
     if (dot(n, place) > 0.0) n = -n;
     vec3 toward = normalize(-place);
     vec3 sun = normalize(vec3(-0.36, 0.55, 0.75));
     float light = 0.5 + 0.5 * max(dot(n, sun), 0.0);
     float rim = pow(1.0 - max(dot(n, toward), 0.0), 3.0);
     float shine = pow(max(dot(n, normalize(sun + toward)), 0.0), 60.0);
     pixel = vec4(colour * light + 0.35 * rim * vec3(0.6, 0.85, 1.0) + 0.5 * shine, 1.0);`,
    colour,
    { side: DoubleSide },
  );
}

export function floorMaterial() {
  return meshMaterial("pixel = vec4(colour, 1.0);", [0.062, 0.083, 0.115], { side: FrontSide, depthWrite: false, depthTest: false });
}
