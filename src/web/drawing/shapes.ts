/** Heights with half widths, from the rim down. */
export type Sides = readonly [Side, ...Side[]];
type Side = readonly [y: number, halfWidth: number];

interface Shape {
  sides: Sides;
  /** Handles and spouts: paths with the width of their stroke. */
  behind: readonly (readonly [path: string, width: number])[];
  /** The path of the lid, and the position of its knob. */
  lid?: { path: string; knob: number };
}

const bottle: Shape = {
  sides: [
    [8, 9],
    [14, 6.5],
    [28, 7],
    [42, 15],
    [56, 25],
    [72, 27],
    [88, 21],
    [96, 15],
  ],
  behind: [],
};
const vase: Shape = {
  sides: [
    [8, 15],
    [14, 10],
    [28, 14],
    [44, 26],
    [60, 30],
    [78, 22],
    [96, 14],
  ],
  behind: [],
};
const bowl: Shape = {
  sides: [
    [48, 37],
    [54, 37],
    [66, 33],
    [78, 24],
    [87, 13],
    [90, 12],
    [96, 15],
  ],
  behind: [],
};
const jar: Shape = {
  sides: [
    [30, 21],
    [38, 28],
    [54, 33],
    [74, 31],
    [88, 24],
    [96, 20],
  ],
  behind: [],
  lid: { path: "M28 30c2-9 14-12 22-12s20 3 22 12z", knob: 15 },
};
const cup: Shape = {
  sides: [
    [36, 24],
    [50, 25],
    [76, 24],
    [88, 20],
    [96, 14],
  ],
  behind: [["M73 46c17-4 19 26-1 27", 5.5]],
};
const amphora: Shape = {
  sides: [
    [6, 12],
    [11, 8],
    [24, 8],
    [36, 20],
    [52, 27],
    [70, 23],
    [86, 12],
    [91, 9],
    [96, 13],
  ],
  behind: [["M58 12c16 0 20 14 12 26M42 12c-16 0-20 14-12 26", 4]],
};
const teapot: Shape = {
  sides: [
    [42, 15],
    [48, 25],
    [62, 32],
    [78, 29],
    [90, 19],
    [96, 17],
  ],
  behind: [
    ["M76 66c10-1 10-17 19-20", 7],
    ["M22 52c-20-4-20 28 2 26", 5],
  ],
  lid: { path: "M34 42c2-7 10-9 16-9s14 2 16 9z", knob: 31 },
};

export const SHAPES: readonly [Shape, ...Shape[]] = [bottle, vase, bowl, jar, cup, amphora, teapot];
