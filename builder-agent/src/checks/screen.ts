import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";
import { readMask, type Check } from "../contract.ts";
import { faultlessInTime, notRun, type Guest, type Seen } from "./guest.ts";

/** The pause before the screen is compared again. */
const pauseSeconds = 2;
const silence = "The screen cannot be read.";
/** The largest width and height to compare. A small file can have a very large picture. */
const maxSide = 2560;

/** Compares the machine's screen with that of an earlier build, until enough of it is equal. */
export async function lookAtScreen(check: Check, guest: Guest): Promise<Seen> {
  const reference = await guest.readScreen(check.build);
  const expected = reference && readPicture(reference);
  if (!expected)
    return notRun(
      `Build ${check.build} has no screen to compare with. Use a build of your account whose checks have passed.`,
    );
  const attempt = async () => {
    const screen = await guest.takeScreen().then(readPicture, () => undefined); // a machine that is off has none
    return screen ? faultOf({ expected, screen }, check) : silence;
  };
  const { seconds } = check;
  return await faultlessInTime(guest, { seconds, pauseSeconds, success: "The screen matches.", silence }, attempt);
}

function readPicture(png: Buffer): PNG | undefined {
  // The header of a PNG file has its width and height at these places.
  if (png.length < 24 || Math.max(png.readUInt32BE(16), png.readUInt32BE(20)) > maxSide) return undefined;
  try {
    return PNG.sync.read(png);
  } catch {
    return undefined;
  }
}

const sizeOf = ({ width, height }: PNG): string => `${width} × ${height} pixels`;

/** Why the screen is not as expected, as a sentence. Empty if it is. */
function faultOf({ expected, screen }: { expected: PNG; screen: PNG }, { build, percent, mask }: Check): string {
  if (sizeOf(expected) !== sizeOf(screen))
    return `The screen has ${sizeOf(screen)}, but that of build ${build} has ${sizeOf(expected)}.`;
  const { width, height } = screen;
  const ignoreMask = maskOf(mask, screen);
  const compared = width * height - ignoreMask.reduce((sum, one) => sum + one, 0);
  const different = pixelmatch(expected.data, screen.data, null, width, height, { ignoreMask });
  const equal = compared === 0 ? 100 : 100 - (100 * different) / compared;
  return equal >= percent ? "" : `${Math.floor(equal * 10) / 10} % of the screen matches that of build ${build}.`;
}

/** A byte for each pixel: 1 if it is not compared. */
function maskOf(mask: string, { width, height }: PNG): Uint8Array {
  const ignored = new Uint8Array(width * height);
  for (const { left, top, ...size } of readMask(mask) ?? [])
    for (let row = top; row < Math.min(top + size.height, height); row += 1)
      ignored.fill(1, row * width + Math.min(left, width), row * width + Math.min(left + size.width, width));
  return ignored;
}
