// npm start. Plain JavaScript without packages, for Node 20 or newer. It installs the packages and Node 24, which runs
// the rest.
import { readFileSync } from "node:fs";
import { prepareNpmPackages } from "./bootstrap/npm-packages.mjs";
import { runWithNode24 } from "./bootstrap/node24.mjs";

const options = process.argv.slice(2);
if (options.includes("--help")) {
  console.log(readFileSync(new URL("launch/usage.txt", import.meta.url), "utf8"));
} else {
  process.env["KILN_STARTED_AT"] = String(performance.timeOrigin); // so that npm packages count as part of the start
  await prepareNpmPackages();
  runWithNode24("scripts/launch.ts", options);
}
