// node24.mjs FILE [ARGUMENTS…]: runs a TypeScript file with the packaged Node 24. Without a file, only installs the npm
// packages.
import { prepareNpmPackages } from "./bootstrap/npm-packages.mjs";
import { runWithNode24 } from "./bootstrap/node24.mjs";

const [file, ...args] = process.argv.slice(2);
await prepareNpmPackages();
if (file) runWithNode24(file, args);
