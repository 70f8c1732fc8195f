/** The points drawn by the graphics card: one or two calls a frame, whatever their number.
 *
 * Written against WebGL directly: libraries that build programs from text at run time need a page
 * that allows this ("unsafe-eval"), and ours does not.
 */

import type { Rgb } from "./colours";
import type { GroupLook, Picture, Scene } from "./picture";

const VERTEX = `#version 300 es
precision highp float;
precision highp int;
in vec2 before;
in vec2 after;
in uint group;
in float mark;
uniform vec2 centre;
uniform vec2 zoom;       // from the map to the square from -1 to 1
uniform float share;     // how far from before to after
uniform float point;     // in pixels of the screen
uniform int colourful;   // 0: the grey points are drawn, 1: the others, on top of them
uniform bool marking;
uniform sampler2D looks; // per group: its colour, and shape + 4 where it is lit
uniform vec3 grey;
flat out vec3 colour;
flat out int shape;
flat out float strength;
flat out float edge;
void main() {
  vec4 look = texelFetch(looks, ivec2(int(group) & 255, int(group) >> 8), 0);
  int code = int(look.a * 255.0 + 0.5);
  bool lit = marking ? mark > 0.5 : code >= 4;
  shape = code & 3;
  colour = lit ? look.rgb : grey;
  strength = lit ? 0.88 : 0.4;
  float size = lit ? point : max(point * 0.8, 1.5);
  edge = 2.0 / size;
  gl_PointSize = size;
  bool turn = lit == (colourful == 1);
  vec2 at = turn ? (mix(before, after, share) - centre) * zoom : vec2(3.0); // 3: out of view
  gl_Position = vec4(at, 0.0, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
flat in vec3 colour;
flat in int shape;
flat in float strength;
flat in float edge;
out vec4 pixel;
float outside(vec2 at) {
  if (shape == 1) return max(abs(at.x), abs(at.y)) - 0.78;
  if (shape == 2) return max(at.y - 0.7, abs(at.x) * 0.87 - at.y * 0.5 - 0.45);
  if (shape == 3) return abs(length(at) - 0.66) - 0.26;
  return length(at) - 0.92;
}
void main() {
  float covered = 1.0 - smoothstep(-edge, edge * 0.25, outside(gl_PointCoord * 2.0 - 1.0));
  float alpha = covered * strength;
  pixel = vec4(colour * alpha, alpha);
}`;

const ROW = 256;
const UNIFORMS = [
  "centre", "zoom", "share", "point", "colourful", "marking", "looks", "grey",
] as const; // prettier-ignore
type Uniform = (typeof UNIFORMS)[number];

function program(gl: WebGL2RenderingContext): WebGLProgram | null {
  const made = gl.createProgram();
  for (const [type, text] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(type);
    if (!shader) return null;
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  return gl.getProgramParameter(made, gl.LINK_STATUS) ? made : null;
}

export class Gl implements Picture {
  readonly kind = "webgl";
  private n = 0;
  private allLit = true;
  private grey: Rgb = [128, 128, 128];
  private readonly at: Record<Uniform, WebGLUniformLocation | null>;
  private readonly buffers: WebGLBuffer[];
  private readonly texture: WebGLTexture;

  static on(gl: WebGL2RenderingContext): Gl | null {
    const made = program(gl);
    return made && new Gl(gl, made);
  }

  private constructor(
    private readonly gl: WebGL2RenderingContext,
    private readonly drawing: WebGLProgram,
  ) {
    this.at = Object.fromEntries(
      UNIFORMS.map((name) => [name, gl.getUniformLocation(drawing, name)]),
    ) as Record<Uniform, WebGLUniformLocation | null>;
    this.buffers = ["before", "after", "group", "mark"].map((name) => {
      const buffer = gl.createBuffer();
      const place = gl.getAttribLocation(drawing, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(place);
      if (name === "group") gl.vertexAttribIPointer(place, 1, gl.UNSIGNED_SHORT, 0, 0);
      else if (name === "mark") gl.vertexAttribPointer(place, 1, gl.UNSIGNED_BYTE, false, 0, 0);
      else gl.vertexAttribPointer(place, 2, gl.FLOAT, false, 0, 0);
      return buffer;
    });
    this.texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) {
      gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
    }
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  points(from: Float32Array, to: Float32Array, group: Uint16Array): void {
    this.n = group.length;
    this.fill(0, from);
    this.fill(1, to);
    this.fill(2, group);
    this.fill(3, new Uint8Array(this.n));
  }

  looks(groups: readonly GroupLook[], grey: Rgb): void {
    const rows = Math.max(1, Math.ceil(groups.length / ROW));
    const texels = new Uint8Array(rows * ROW * 4);
    groups.forEach(({ rgb, shape, lit }, k) => texels.set([...rgb, shape + (lit ? 4 : 0)], 4 * k));
    const { gl } = this;
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, ROW, rows, 0, gl.RGBA, gl.UNSIGNED_BYTE, texels);
    this.grey = grey;
    this.allLit = groups.every((group) => group.lit);
  }

  marks(marked: Uint8Array): void {
    this.fill(3, marked);
  }

  draw({ camera, size, ratio, share, point, marking }: Scene): void {
    const { gl, at } = this;
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.useProgram(this.drawing);
    gl.uniform2f(at.centre, camera.x, camera.y);
    gl.uniform2f(at.zoom, (2 * camera.scale) / size.width, (2 * camera.scale) / size.height);
    gl.uniform1f(at.share, share);
    gl.uniform1f(at.point, point * ratio);
    gl.uniform1i(at.marking, marking ? 1 : 0);
    gl.uniform1i(at.looks, 0);
    gl.uniform3f(at.grey, this.grey[0] / 255, this.grey[1] / 255, this.grey[2] / 255);
    for (const colourful of this.allLit && !marking ? [1] : [0, 1]) {
      gl.uniform1i(at.colourful, colourful);
      gl.drawArrays(gl.POINTS, 0, this.n);
    }
  }

  dispose(): void {
    const { gl } = this;
    for (const buffer of this.buffers) gl.deleteBuffer(buffer);
    gl.deleteTexture(this.texture);
    gl.deleteProgram(this.drawing);
    // Browsers allow few of these at a time; one that is not shown any more is given back now.
    gl.getExtension("WEBGL_lose_context")?.loseContext();
  }

  private fill(which: number, data: Float32Array | Uint16Array | Uint8Array): void {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.buffers[which] ?? null);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, data, this.gl.STATIC_DRAW);
  }
}
