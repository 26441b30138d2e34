// What the page takes of three.js; `npm run vendor` makes three.min.mjs of it.
export {
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  DynamicDrawUsage,
  FrontSide,
  GLSL3,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  Mesh,
  MOUSE,
  OrthographicCamera,
  PerspectiveCamera,
  Points,
  RawShaderMaterial,
  Scene,
  TOUCH,
  Vector3,
  WebGLRenderer,
} from "three";
export { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
