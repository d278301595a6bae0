import { fileURLToPath } from "node:url";

/** The checkout that this file stands in, with a slash at its end. */
export const projectRoot = fileURLToPath(new URL("../..", import.meta.url));
/** Node 24, as it runs this very file. */
export const node = process.execPath;
