/** The default pictures of an appliance: this service's logo, as in src/web/style/kiln.svg. */
import type { Picture } from "./codec.ts";

/** Red, green, blue, opacity, each from 0 to 1. The colours are multiplied by the opacity. */
type Paint = readonly [number, number, number, number];
type Point = readonly [x: number, y: number];

/** The logo on a transparent background. */
export const drawLogo = (side: number): Picture => draw(side, (x, y) => markAt(x * markSize, y * markSize));

/** The logo with a glowing background. */
export const drawBackground = (side: number): Picture =>
  draw(side, (x, y) => {
    const mark = markAt((x - 0.5) * markSize * 1.9 + 16, (y - 0.53) * markSize * 1.9 + 16);
    return over(mark, glowAt(distance(x - 0.5, (y - 0.62) * 0.9)));
  });

/** The width of kiln.svg, in its own units. */
const markSize = 32;
const stepsPerCurve = 16;
const night = paint("12110f");
const coal = paint("2b2622");
const chalk = paint("e8e2da");
const ember = paint("ff9d4d");
const rust = paint("8a3c0c");
const nothing: Paint = [0, 0, 0, 0];

function markAt(x: number, y: number): Paint {
  if (isInFlame(x, y)) return ember;
  const depth = depthInKiln(x, y);
  if (depth > 1) return coal;
  return depth > -1 ? chalk : nothing;
}

/** A point's distance inside the middle line of the wall: a dome of radius 12 on vertical walls. */
function depthInKiln(x: number, y: number): number {
  const sideways = y < 15 ? 12 - distance(x - 16, y - 15) : 12 - Math.abs(x - 16);
  return Math.min(sideways, 29 - y);
}

function isInFlame(x: number, y: number): boolean {
  if (x < 11 || x > 21 || y < 10 || y > 25) return false; // most points are far away
  return y > 20 ? distance(x - 16, y - 20) < 5 : isInside(flame, x, y);
}

/** The upper half of the flame. The lower half is half a disc. */
const flame: readonly Point[] = [
  ...curve([16, 10], [17, 14], [21, 15.5], [21, 20]),
  ...curve([11, 20], [11, 17.5], [12.2, 16.4], [13.2, 15]),
  ...curve([13.2, 15], [13.7, 16.2], [14.2, 16.8], [15, 17.2]),
  ...curve([15, 17.2], [14.8, 14.5], [15, 12], [16, 10]),
];

/** The colour of the glow: ember near the fire, then rust, then night. */
function glowAt(away: number): Paint {
  const heat = Math.max(0, 1 - away / 0.72);
  return mix(mix(night, rust, Math.min(1, heat * 1.25)), ember, Math.max(0, heat - 0.45) * 0.9);
}

/** Points on a cubic Bézier curve. */
function curve(...[start, bend, turn, end]: [Point, Point, Point, Point]): Point[] {
  return Array.from({ length: stepsPerCurve + 1 }, (_, step): Point => {
    const t = step / stepsPerCurve;
    const at = (axis: 0 | 1) =>
      (1 - t) ** 3 * start[axis] +
      3 * (1 - t) ** 2 * t * bend[axis] +
      3 * (1 - t) * t ** 2 * turn[axis] +
      t ** 3 * end[axis];
    return [at(0), at(1)];
  });
}

/** Whether a ray to the right crosses the outline an odd number of times. */
function isInside(outline: readonly Point[], x: number, y: number): boolean {
  let inside = false;
  let [beforeX, beforeY] = outline.at(-1) ?? [0, 0];
  for (const [nextX, nextY] of outline) {
    const isCrossed = nextY > y !== beforeY > y && x < ((beforeX - nextX) * (y - nextY)) / (beforeY - nextY) + nextX;
    if (isCrossed) inside = !inside;
    [beforeX, beforeY] = [nextX, nextY];
  }
  return inside;
}

/** Samples per pixel in each direction. A pixel is their mean. */
const samples = 3;

function draw(side: number, paintAt: (x: number, y: number) => Paint): Picture {
  const pixels = new Uint8Array(side * side * 4);
  for (let pixel = 0; pixel < side * side; pixel++) {
    let [red, green, blue, opacity] = nothing;
    for (let sample = 0; sample < samples ** 2; sample++) {
      const x = (pixel % side) + ((sample % samples) + 0.5) / samples;
      const y = Math.floor(pixel / side) + (Math.floor(sample / samples) + 0.5) / samples;
      const seen = paintAt(x / side, y / side);
      red += seen[0];
      green += seen[1];
      blue += seen[2];
      opacity += seen[3];
    }
    const bytes = [red / opacity, green / opacity, blue / opacity, opacity / samples ** 2];
    if (opacity > 0) for (const [at, part] of bytes.entries()) pixels[pixel * 4 + at] = Math.round(part * 255);
  }
  return { width: side, height: side, pixels };
}

function paint(hex: string): Paint {
  const colour = Number.parseInt(hex, 16);
  return [(colour >> 16) / 255, ((colour >> 8) & 255) / 255, (colour & 255) / 255, 1];
}

// Math.hypot is ten times slower, because it avoids overflow.
const distance = (x: number, y: number): number => Math.sqrt(x * x + y * y);

const mix = (from: Paint, to: Paint, share: number): Paint => [
  from[0] + (to[0] - from[0]) * share,
  from[1] + (to[1] - from[1]) * share,
  from[2] + (to[2] - from[2]) * share,
  from[3] + (to[3] - from[3]) * share,
];

const over = (front: Paint, back: Paint): Paint => [
  front[0] + back[0] * (1 - front[3]),
  front[1] + back[1] * (1 - front[3]),
  front[2] + back[2] * (1 - front[3]),
  front[3] + back[3] * (1 - front[3]),
];
