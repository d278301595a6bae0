import { rest } from "#lib/loop/pace";
import { openResizer, type Picture } from "./codec.ts";

/** The resizer needs sixteen bytes for each pixel, so it gets strips instead of the whole picture. */
const stripRows = 64;
const pixelBytes = 4;

/**
 * A square picture from the middle of a larger or smaller one. First each strip is resized to the width of the
 * thumbnail, then all of them together to its height.
 */
export async function thumbnail(picture: Picture, side: number): Promise<Picture> {
  const resize = openResizer();
  const square = Math.min(picture.width, picture.height);
  const left = Math.floor((picture.width - square) / 2);
  const top = Math.floor((picture.height - square) / 2);
  const narrow = { width: side, height: square, pixels: new Uint8Array(side * square * pixelBytes) };
  for (let row = 0; row < square; row += stripRows) {
    await rest();
    const height = Math.min(stripRows, square - row);
    const strip = cut(picture, { left, top: top + row, width: square, height });
    narrow.pixels.set(resize(strip, { width: side, height }).pixels, row * side * pixelBytes);
  }
  await rest();
  return resize(narrow, { width: side, height: side });
}

function cut(
  picture: Picture,
  { left, top, width, height }: { left: number; top: number; width: number; height: number },
): Picture {
  const pixels = new Uint8Array(width * height * pixelBytes);
  for (let row = 0; row < height; row++) {
    const from = ((top + row) * picture.width + left) * pixelBytes;
    pixels.set(picture.pixels.subarray(from, from + width * pixelBytes), row * width * pixelBytes);
  }
  return { width, height, pixels };
}
