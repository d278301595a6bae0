import { fileURLToPath } from "node:url";

/** The folder of the checkout, with a slash at the end. */
export const projectRoot = fileURLToPath(new URL("../..", import.meta.url));
/** The Node 24 that runs this file. */
export const node = process.execPath;
