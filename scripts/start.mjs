// npm start. Plain JavaScript without packages, for Node 20 or newer. It installs the packages and Node 24, which runs
// the rest.
import { readFileSync } from "node:fs";
import { prepareNpmPackages } from "./bootstrap/npm-packages.mjs";
import { runWithNode24 } from "./bootstrap/node24.mjs";

const options = process.argv.slice(2);
if (options.includes("--help")) {
  console.log(readFileSync(new URL("launch/usage.txt", import.meta.url), "utf8"));
} else {
  if (process.getuid?.() !== 0 && !options.includes("--no-agent")) warnWithoutRoot();
  process.env["KILN_STARTED_AT"] = String(performance.timeOrigin); // so that npm packages count as part of the start
  await prepareNpmPackages();
  runWithNode24("scripts/launch.ts", options);
}

/** Tells an ordinary user what the agent of this start cannot do, before anything is installed. */
function warnWithoutRoot() {
  console.error("! Builds need root. This start's agent only runs testdrives, because you are not root.");
  console.error("! To build images, press Ctrl-C and run: sudo npm start. For no agent: npm start -- --no-agent.");
}
