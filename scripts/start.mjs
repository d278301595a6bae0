// npm start. Plain JavaScript without packages, for Node 20 or newer. It installs the packages and Node 24, which runs the rest.
import { prepareNpmPackages } from "./door/npm-packages.mjs";
import { runWithNode24 } from "./door/node24.mjs";

await prepareNpmPackages();
runWithNode24("scripts/launch.ts", process.argv.slice(2));
