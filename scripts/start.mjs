// npm start. Plain JavaScript without packages, for any Node from 20 on: it brings the packages and Node 24, then steps aside.
import { prepareNpmPackages } from "./door/npm-packages.mjs";
import { runWithNode24 } from "./door/node24.mjs";

await prepareNpmPackages();
runWithNode24("scripts/launch.ts", process.argv.slice(2));
