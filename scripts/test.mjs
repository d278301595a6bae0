// npm test. Prepares the packages and Node 24 like npm start.
import { prepareNpmPackages } from "./bootstrap/npm-packages.mjs";
import { runWithNode24 } from "./bootstrap/node24.mjs";

await prepareNpmPackages();
runWithNode24("scripts/test.ts", process.argv.slice(2));
