/** Bundles the command line into cli/dist: one JavaScript file for Node 20 and newer, its manual, the schema of appliance.yaml, and the licences of what it contains. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { manual } from "../src/manual.ts";
import { bundle } from "./bundle.ts";

const root = new URL("..", import.meta.url).pathname;
const dist = join(root, "dist");

/** The packages that a package contains parts of, without their licences. */
const inside: Readonly<Record<string, readonly string[]>> = {
  "@modelcontextprotocol/server": [
    "ajv",
    "ajv-formats",
    "content-type",
    "fast-deep-equal",
    "fast-uri",
    "json-schema-traverse",
  ],
};

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
const packages = bundle(join(dist, "kiln.js"));
writeFileSync(join(dist, "kiln.1"), manual());
copyFileSync(join(root, "src/appliance-file/schema.json"), join(dist, "appliance.schema.json"));
writeFileSync(join(dist, "LICENSES.txt"), licences());

/** The texts of the bundled packages' licences. */
function licences(): string {
  return packages
    .flatMap((name) => [name, ...(inside[name] ?? [])])
    .map(licenceOf)
    .join("\n");
}

/** The licence of a package without such a file is here. */
function licenceOf(name: string): string {
  const here = join(root, "scripts/licences", name);
  return `${name}\n\n${readFileSync(existsSync(here) ? here : fileIn(join(root, "../node_modules", name)), "utf8")}`;
}

function fileIn(folder: string): string {
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`${folder} has no text of its licence`);
  return join(folder, file);
}
