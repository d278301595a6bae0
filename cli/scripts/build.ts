/** Bundles the command line into cli/dist: one JavaScript file for Node 20 and newer, its manual, and the licences of what it contains. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { manual } from "../src/manual.ts";
import { bundle } from "./bundle.ts";

const root = new URL("..", import.meta.url).pathname;
const dist = join(root, "dist");

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
bundle(join(dist, "kiln.js"));
writeFileSync(join(dist, "kiln.1"), manual());
writeFileSync(join(dist, "LICENSES.txt"), licences());

/** The texts of the bundled packages' licences. */
function licences(): string {
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.keys(devDependencies).map(licenceOf).join("\n");
}

function licenceOf(name: string): string {
  const folder = join(root, "../node_modules", name);
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`${name} has no text of its licence`);
  return `${name}\n\n${readFileSync(join(folder, file), "utf8")}`;
}
