import { SHAPES, type Sides } from "./shapes.ts";

/** The picture of an appliance without its own: a pot, always the same for the same number. */
export const vessel = (id: number): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">${pot(id, "b")}</svg>`;

/** A pot of 100 by 100: 7 shapes, 8 glazes, 3 bands. `clip` is an id that is unique in the document. */
export function pot(id: number, clip: string): string {
  const shape = pick(SHAPES, id);
  const [glaze, shade] = pick(GLAZES, Math.floor(id / SHAPES.length) * 3 + id);
  const band = (Math.floor(id / (SHAPES.length * GLAZES.length)) % 3) - 1;
  const outline = around(shape.sides);
  const [top, rim] = shape.sides[0];
  const drop = 74 + band * 4;
  const behind = shape.behind
    .map(
      ([path, width]) =>
        `<path d="${path}" fill="none" stroke="${shade}" stroke-width="${width}" stroke-linecap="round"/>`,
    )
    .join("");
  const lid = shape.lid
    ? `<path d="${shape.lid.path}" fill="${shade}"/><circle cx="50" cy="${shape.lid.knob}" r="4" fill="${glaze}"/>`
    : `<ellipse cx="50" cy="${top}" rx="${rim}" ry="${rim / 5}" fill="${shade}"/><ellipse cx="50" cy="${top + 0.4}" rx="${rim * 0.8}" ry="${rim / 8}" fill="#2b1a0f" opacity=".6"/>`;
  return `${behind}
<clipPath id="${clip}"><path d="${outline}"/></clipPath>
<path d="${outline}" fill="#b98e68"/>
<g clip-path="url(#${clip})">
<path fill="${glaze}" d="M0 0h100v${drop}c-6 0-7 9-12 9s-6-6-12-6-7 12-13 12-6-10-12-10-7 7-13 7-6-12-13-12-7 6-12 6-7-6-13-6z"/>
<path fill="${shade}" opacity=".55" d="M0 ${48 + band * 3}h100v7H0z"/>
<path fill="#1b0f06" opacity=".17" d="M58 0h42v100H58c9-30 9-70 0-100z"/>
<path fill="#fff" opacity=".22" d="M34 0c-9 34-9 66-1 100h-6c-8-34-7-66 2-100z"/>
</g>${lid}`;
}

type Glaze = readonly [light: string, dark: string];

const GLAZES: readonly [Glaze, ...Glaze[]] = [
  ["#a9c3a6", "#7d9f84"], // celadon
  ["#6f93c8", "#44689f"], // cobalt
  ["#cf6a45", "#9c4527"], // iron
  ["#94694c", "#644430"], // tenmoku
  ["#e2d4bd", "#bda98c"], // ash
  ["#74c0b4", "#438f86"], // copper
  ["#a8708f", "#7a4867"], // plum
  ["#e3a95c", "#b67a30"], // honey
];

/** A smooth line (Catmull-Rom) down the right side, and up the left one. */
function around(sides: Sides): string {
  const right = sides.map(([y, half]): Point => [50 + half, y]);
  const left = sides.map(([y, half]): Point => [50 - half, y]).toReversed();
  return `M${right[0]?.join()}${smooth(right)}L${left[0]?.join()}${smooth(left)}z`;
}

type Point = readonly [x: number, y: number];

const smooth = (line: readonly Point[]): string =>
  line
    .slice(1)
    .map((to, at) => {
      const from = line[at] ?? to;
      const before = line[at - 1] ?? from;
      const after = line[at + 2] ?? to;
      const leave = [from[0] + (to[0] - before[0]) / 6, from[1] + (to[1] - before[1]) / 6];
      const arrive = [to[0] - (after[0] - from[0]) / 6, to[1] - (after[1] - from[1]) / 6];
      return `C${[...leave, ...arrive, ...to].map((n) => Number(n.toFixed(1))).join(" ")}`;
    })
    .join("");

const pick = <T>(list: readonly [T, ...T[]], n: number): T => list[n % list.length] ?? list[0];
