/** Replaces node:timers/promises. */
import { wait } from "./globals.ts";

export { wait as setTimeout };
export const setImmediate = (): Promise<unknown> => wait(0);
