import { describe, expect, it } from "vitest";
import { decodePng, encodePng, type Picture } from "#lib/picture/codec";
import { drawBackground, drawLogo } from "#lib/picture/drawing";
import { outlinePng } from "#lib/picture/png";
import { thumbnail } from "#lib/picture/thumbnail";
import { loopTurns } from "../support/loop-turns.ts";
import { pngChunk, pngOf, rowOf, type PngOptions } from "./png-maker.ts";

const pixelAt = ({ width, pixels }: Picture, x: number, y: number): number[] => [
  ...pixels.subarray((y * width + x) * 4, (y * width + x + 1) * 4),
];
/** The resizer rounds down. */
function expectNear(pixel: number[], wanted: number[]) {
  const distance = Math.max(...pixel.map((part, index) => Math.abs(part - (wanted[index] ?? 0))));
  expect(distance, `${pixel.join()} for ${wanted.join()}`).toBeLessThanOrEqual(2);
}
const many = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);
const red = [255, 0, 0, 255];
const blue = [0, 0, 255, 255];

describe("outlinePng", () => {
  it("reads the size and keeps the chunks that the pixels need", () => {
    const plain = pngOf(30, 20);
    const adorned = pngOf(30, 20, { before: [pngChunk("tEXt", Buffer.from("Comment\0hello"))] });

    expect(outlinePng(adorned)).toMatchObject({ width: 30, height: 20 });
    expect(Buffer.from(outlinePng(adorned).essence).equals(plain)).toBe(true);
  });

  it("ignores bytes after the end", () => {
    const file = Buffer.concat([pngOf(3, 2), Buffer.from("PK\x03\x04 something else")]);
    expect(Buffer.from(outlinePng(file).essence).equals(pngOf(3, 2))).toBe(true);
  });

  it.each<[string, Uint8Array, RegExp]>([
    ["nothing", new Uint8Array(), /is not a PNG/],
    ["a JPEG", Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46]), /is not a PNG/],
    ["the signature alone", pngOf(3, 2).subarray(0, 8), /ends too early/],
    ["half of a file", pngOf(30, 20).subarray(0, 50), /ends too early/],
    ["a file without its last chunk", pngOf(30, 20).subarray(0, -12), /ends too early/],
    ["empty chunks without end", pngOf(3, 2, { before: many(10_001, pngChunk("tEXt", new Uint8Array())) }), /too many/],
    ["a changed byte", pngOf(30, 20).with(45, 77), /a checksum is wrong/],
    [
      "a chunk of 4 GiB",
      Buffer.concat([pngOf(3, 2).subarray(0, 33), Buffer.from("\xff\xff\xff\xffIDAT....", "latin1")]),
      /ends too early/,
    ],
    ["another first chunk", Buffer.concat([pngOf(3, 2).subarray(0, 8), pngOf(3, 2).subarray(33)]), /without a header/],
  ])("refuses %s", (_, file, complaint) => {
    expect(() => outlinePng(file)).toThrow(complaint);
  });
});

describe("decodePng", () => {
  const palette = [pngChunk("PLTE", Buffer.from([0, 0, 0, 255, 0, 0])), pngChunk("tRNS", Buffer.from([255, 128]))];
  it.each<[string, PngOptions, number[]]>([
    ["8-bit RGBA", { row: rowOf(8, [255, 0, 0, 128]) }, [255, 0, 0, 128]],
    ["16-bit RGBA", { bits: 16, row: rowOf(8, [255, 255, 0, 0, 0, 0, 128, 128]) }, [255, 0, 0, 128]],
    ["8-bit RGB", { colourType: "rgb", row: rowOf(8, [255, 0, 0]) }, red],
    ["16-bit RGB", { colourType: "rgb", bits: 16, row: rowOf(8, [255, 255, 0, 0, 0, 0]) }, red],
    ["grey", { colourType: "grey", row: rowOf(8, [77]) }, [77, 77, 77, 255]],
    ["black and white", { colourType: "grey", bits: 1, row: [255] }, [255, 255, 255, 255]],
    ["grey with opacity", { colourType: "greyAlpha", row: rowOf(8, [77, 9]) }, [77, 77, 77, 9]],
    ["a palette", { colourType: "palette", bits: 1, row: [255], before: palette }, [255, 0, 0, 128]],
  ])("unpacks %s", (_, options, pixel) => {
    const picture = decodePng(outlinePng(pngOf(8, 3, options)).essence);
    expect(picture).toMatchObject({ width: 8, height: 3 });
    expect([...picture.pixels]).toEqual(rowOf(8 * 3, pixel));
  });

  it("unpacks an interlaced picture", () => {
    // A picture of 1 x 1 pixel has a single pass.
    const picture = decodePng(pngOf(1, 1, { isInterlaced: true, row: red }));
    expect([...picture.pixels]).toEqual(red);
  });

  it.each<[string, (file: Uint8Array<ArrayBuffer>) => Uint8Array]>([
    ["a header that promises more rows", () => pngOf(8, 3, { said: { width: 8, height: 400 } })],
    ["a header without pixels", () => pngOf(8, 3, { said: { width: 0, height: 0 } })],
    ["an invalid bit depth", (file) => Buffer.concat([file.subarray(0, 24), Buffer.from([7]), file.subarray(25)])],
    ["a palette picture without a palette", () => pngOf(8, 3, { colourType: "palette" })],
  ])("refuses %s, and still unpacks the next picture", (_, damage) => {
    const good = pngOf(8, 3, { row: rowOf(8, blue) });
    expect(() => decodePng(damage(good))).toThrow("is damaged: it cannot be decoded");
    expect([...decodePng(good).pixels]).toEqual(rowOf(8 * 3, blue));
  });
});

describe("encodePng", () => {
  it("writes a PNG of the same pixels", () => {
    const picture = { width: 2, height: 1, pixels: Uint8Array.from([...red, 1, 2, 3, 4]) };
    expect(decodePng(outlinePng(encodePng(picture)).essence)).toEqual(picture);
  });
});

describe("thumbnail", () => {
  it.each([
    ["wide", 400, 150],
    ["high", 150, 400],
    ["smaller than its thumbnail", 30, 20],
    ["a single pixel", 1, 1],
  ])("is square for a picture that is %s", async (_, width, height) => {
    const small = await thumbnail(decodePng(pngOf(width, height, { row: rowOf(width, red) })), 100);
    expect({ width: small.width, height: small.height }).toEqual({ width: 100, height: 100 });
    for (const [x, y] of [
      [0, 0],
      [99, 0],
      [50, 50],
      [0, 99],
      [99, 99],
    ] as const)
      expectNear(pixelAt(small, x, y), red);
  });

  it("shows the middle, without distorting it", async () => {
    // The outer thirds are blue; the square in the middle is red.
    const row = [...rowOf(200, blue), ...rowOf(200, red), ...rowOf(200, blue)];
    const small = await thumbnail(decodePng(pngOf(600, 200, { row })), 100);
    expectNear(pixelAt(small, 1, 50), red);
    expectNear(pixelAt(small, 98, 50), red);
  });

  it("has no seams between its strips", async () => {
    const side = 500; // seven strips and a remainder
    const pixels = new Uint8Array(side * side * 4);
    for (let at = 0; at < side * side; at++) pixels.set([0, Math.round(Math.floor(at / side) / 2), 0, 255], at * 4);
    const small = await thumbnail({ width: side, height: side, pixels }, 100);
    const greens = Array.from({ length: 100 }, (_, y) => pixelAt(small, 50, y)[1] ?? 0);
    for (const [y, green] of greens.entries()) expect(Math.abs(green - (y * 5 + 2) / 2)).toBeLessThan(2);
  });

  it("does not mix in the colour of transparent pixels", async () => {
    const row = rowOf(100, [...red, 0, 255, 0, 0]);
    const [r = 0, g = 0] = pixelAt(await thumbnail(decodePng(pngOf(200, 200, { row })), 100), 50, 50);
    expectNear([r, g], [255, 0]);
  });

  it("is made without stopping the loop", async () => {
    const picture = { width: 2560, height: 1600, pixels: new Uint8Array(2560 * 1600 * 4) };
    expect(await loopTurns(() => thumbnail(picture, 100))).toBeGreaterThan(20);
  });
});

describe("the default pictures", () => {
  it("show a kiln, on a transparent background and in its glow", () => {
    const logo = drawLogo(128);
    expect(pixelAt(logo, 0, 0)).toEqual([0, 0, 0, 0]);
    expect(pixelAt(logo, 64, 80)).toEqual([255, 157, 77, 255]);
    const background = drawBackground(100);
    expect(background.pixels.filter((_, at) => at % 4 === 3).every((opacity) => opacity === 255)).toBe(true);
    expect(pixelAt(background, 50, 55)).toEqual([255, 157, 77, 255]);
  });
});
