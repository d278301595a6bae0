/** A part of a screen, in pixels. */
export interface Rectangle {
  left: number;
  top: number;
  width: number;
  height: number;
}

const word = /^(\d{1,4}),(\d{1,4}),(\d{1,4}),(\d{1,4})$/;

/** Reads a mask such as `0,380,720,20 10,10,5,5`. Undefined if it is wrong. */
export function readMask(mask: string): Rectangle[] | undefined {
  const found = mask
    .split(" ")
    .filter(Boolean)
    .map((one) => word.exec(one));
  if (found.includes(null)) return undefined;
  return found.map((match) => {
    const [left = 0, top = 0, width = 0, height = 0] = (match ?? []).slice(1).map(Number);
    return { left, top, width, height };
  });
}
