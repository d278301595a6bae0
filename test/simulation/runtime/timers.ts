/** In place of node:timers/promises. */
export { wait as setTimeout } from "./globals.ts";
