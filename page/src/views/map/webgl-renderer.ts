/**
 * Draws the points on the graphics card: one or two calls a frame, whatever their number.
 *
 * Written against WebGL directly: libraries that build programs from text at run time need a page
 * that allows "unsafe-eval", and this one does not.
 */

import type { Rgb } from "../../components/group-colours";
import type { GroupStyle, Renderer, Scene } from "./renderer";

const VERTEX = `#version 300 es
precision highp float;
precision highp int;
in vec2 before;
in vec2 after;
in uint group;
in float selected;
uniform vec2 centre;
uniform vec2 zoom;       // from the map to the square from -1 to 1
uniform float progress;  // how far from before to after
uniform float point;     // in device pixels
uniform int pass;        // 0: the grey points, 1: the coloured ones, on top of them
uniform bool selecting;
uniform sampler2D styles; // per group: its colour, and its shape + 4 where it is coloured
uniform vec3 grey;
flat out vec3 colour;
flat out int shape;
flat out float opacity;
flat out float edge;
void main() {
  vec4 style = texelFetch(styles, ivec2(int(group) & 255, int(group) >> 8), 0);
  int code = int(style.a * 255.0 + 0.5);
  bool coloured = selecting ? selected > 0.5 : code >= 4;
  shape = code & 3;
  colour = coloured ? style.rgb : grey;
  opacity = coloured ? 0.88 : 0.4;
  float size = coloured ? point : max(point * 0.8, 1.5);
  edge = 2.0 / size;
  gl_PointSize = size;
  bool drawn = coloured == (pass == 1);
  vec2 at = drawn ? (mix(before, after, progress) - centre) * zoom : vec2(3.0); // 3: out of sight
  gl_Position = vec4(at, 0.0, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
flat in vec3 colour;
flat in int shape;
flat in float opacity;
flat in float edge;
out vec4 pixel;
float outside(vec2 at) {
  if (shape == 1) return max(abs(at.x), abs(at.y)) - 0.78;
  if (shape == 2) return max(at.y - 0.7, abs(at.x) * 0.87 - at.y * 0.5 - 0.45);
  if (shape == 3) return abs(length(at) - 0.66) - 0.26;
  return length(at) - 0.92;
}
void main() {
  float coverage = 1.0 - smoothstep(-edge, edge * 0.25, outside(gl_PointCoord * 2.0 - 1.0));
  float alpha = coverage * opacity;
  pixel = vec4(colour * alpha, alpha);
}`;

const TEXTURE_WIDTH = 256;
const ATTRIBUTES = ["before", "after", "group", "selected"] as const;
const UNIFORMS = [
  "centre", "zoom", "progress", "point", "pass", "selecting", "styles", "grey",
] as const; // prettier-ignore
type Uniform = (typeof UNIFORMS)[number];

function compile(gl: WebGL2RenderingContext): WebGLProgram | null {
  const program = gl.createProgram();
  for (const [type, text] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(type);
    if (!shader) return null;
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}

export class WebglRenderer implements Renderer {
  readonly kind = "webgl";
  private n = 0;
  private allColoured = true;
  private grey: Rgb = [128, 128, 128];
  private readonly uniforms: Record<Uniform, WebGLUniformLocation | null>;
  private readonly buffers: WebGLBuffer[];
  private readonly texture: WebGLTexture;

  static create(gl: WebGL2RenderingContext): WebglRenderer | null {
    const program = compile(gl);
    return program && new WebglRenderer(gl, program);
  }

  private constructor(
    private readonly gl: WebGL2RenderingContext,
    private readonly program: WebGLProgram,
  ) {
    this.uniforms = Object.fromEntries(
      UNIFORMS.map((name) => [name, gl.getUniformLocation(program, name)]),
    ) as Record<Uniform, WebGLUniformLocation | null>;
    this.buffers = ATTRIBUTES.map((name) => {
      const buffer = gl.createBuffer();
      const location = gl.getAttribLocation(program, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(location);
      if (name === "group") gl.vertexAttribIPointer(location, 1, gl.UNSIGNED_SHORT, 0, 0);
      else if (name === "selected") gl.vertexAttribPointer(location, 1, gl.UNSIGNED_BYTE, false, 0, 0);
      else gl.vertexAttribPointer(location, 2, gl.FLOAT, false, 0, 0);
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

  setPoints(from: Float32Array, to: Float32Array, group: Uint16Array): void {
    this.n = group.length;
    this.fill(0, from);
    this.fill(1, to);
    this.fill(2, group);
    this.fill(3, new Uint8Array(this.n));
  }

  setStyles(groups: readonly GroupStyle[], grey: Rgb): void {
    const rows = Math.max(1, Math.ceil(groups.length / TEXTURE_WIDTH));
    const texels = new Uint8Array(rows * TEXTURE_WIDTH * 4);
    groups.forEach(({ rgb, shape, coloured }, k) =>
      texels.set([...rgb, shape + (coloured ? 4 : 0)], 4 * k),
    );
    const { gl } = this;
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, TEXTURE_WIDTH, rows, 0, gl.RGBA, gl.UNSIGNED_BYTE, texels);
    this.grey = grey;
    this.allColoured = groups.every((group) => group.coloured);
  }

  setSelected(selected: Uint8Array): void {
    this.fill(3, selected);
  }

  draw({ camera, size, pixelRatio, progress, pointSize, selecting }: Scene): void {
    const { gl, uniforms } = this;
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.useProgram(this.program);
    gl.uniform2f(uniforms.centre, camera.x, camera.y);
    gl.uniform2f(uniforms.zoom, (2 * camera.scale) / size.width, (2 * camera.scale) / size.height);
    gl.uniform1f(uniforms.progress, progress);
    gl.uniform1f(uniforms.point, pointSize * pixelRatio);
    gl.uniform1i(uniforms.selecting, selecting ? 1 : 0);
    gl.uniform1i(uniforms.styles, 0);
    gl.uniform3f(uniforms.grey, this.grey[0] / 255, this.grey[1] / 255, this.grey[2] / 255);
    for (const pass of this.allColoured && !selecting ? [1] : [0, 1]) {
      gl.uniform1i(uniforms.pass, pass);
      gl.drawArrays(gl.POINTS, 0, this.n);
    }
  }

  dispose(): void {
    const { gl } = this;
    for (const buffer of this.buffers) gl.deleteBuffer(buffer);
    gl.deleteTexture(this.texture);
    gl.deleteProgram(this.program);
    // Browsers allow only a few contexts at a time: release this one now.
    gl.getExtension("WEBGL_lose_context")?.loseContext();
  }

  private fill(buffer: number, data: Float32Array | Uint16Array | Uint8Array): void {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.buffers[buffer] ?? null);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, data, this.gl.STATIC_DRAW);
  }
}
