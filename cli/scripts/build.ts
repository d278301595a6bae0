/** Bundles the command line into cli/dist: one JavaScript file for Node 20 and newer, its manual, the schema of appliance.yaml, and the licences of what it contains. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { manual } from "../src/manual.ts";
import { bundle } from "./bundle.ts";

const root = new URL("..", import.meta.url).pathname;
const dist = join(root, "dist");

/** What a package contains of others, without their licences. */
const inside: Readonly<Record<string, readonly string[]>> = {
  "@modelcontextprotocol/server": ["ajv", "ajv-formats", "fast-deep-equal", "fast-uri", "json-schema-traverse"],
};

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
const packages = bundle(join(dist, "kiln.js"));
writeFileSync(join(dist, "kiln.1"), manual());
copyFileSync(join(root, "src/appliance-file/schema.json"), join(dist, "appliance.schema.json"));
writeFileSync(join(dist, "LICENSES.txt"), licences());

/** The texts of the bundled packages' licences. */
function licences(): string {
  const all = packages.flatMap((name) => [name, ...(inside[name] ?? [])]).map(licenceOf);
  // It is also inside @modelcontextprotocol/server, and nowhere in node_modules.
  return [...all, `content-type\n\n${readFileSync(join(root, "scripts/content-type.LICENSE"), "utf8")}`].join("\n");
}

function licenceOf(name: string): string {
  const folder = join(root, "../node_modules", name);
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`${name} has no text of its licence`);
  return `${name}\n\n${readFileSync(join(folder, file), "utf8")}`;
}
