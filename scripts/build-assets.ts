/**
 * Bundles the pages' scripts, styles and icons into dist/assets. Each file name contains the content's hash, so that
 * browsers may cache it forever. The same sources always give the same files.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, parse } from "node:path";
import { build, type BuildOptions } from "esbuild";
import { safeHeaders } from "../src/http/safe-headers.ts";
import { islandNames } from "../src/web/island-names.ts";
import { ownStyles } from "../src/web/own-styles.ts";
import { iconNames } from "../src/web/parts/icon-names.ts";

const root = new URL("..", import.meta.url).pathname;
const folder = join(root, "dist/assets");
const usual = {
  absWorkingDir: root,
  bundle: true,
  write: false,
  minify: true,
  format: "esm",
  target: ["es2022", "chrome123", "firefox121", "safari17.5"],
  legalComments: "eof",
  logLevel: "warning",
} satisfies BuildOptions;
const made = new Map<string, Uint8Array | string>();
const manifest: Record<string, string> = {};

add("testdrive.js", await bundled("src/web/client/testdrive.ts"));
add("site.css", await bundled("src/web/style/site.css"));
for (const name of ownStyles) add(name, await bundled(`src/web/style/pages/${name}`));
await addIslands();
add("kiln.svg", readFileSync(join(root, "src/web/style/kiln.svg")));
made.set("assets/manifest.json", `${JSON.stringify({ files: manifest, icons: icons() }, null, 2)}\n`);
// Cloudflare's `_headers` file for static assets. The manifest has no hash in its name.
made.set("_headers", headers());
replace();

/** The pages' small scripts. Shared parts become files with hashed names. */
async function addIslands(): Promise<void> {
  const { outputFiles } = await build({
    ...usual,
    entryPoints: islandNames.map((name) => `src/web/client/${name}.ts`),
    outdir: "assets",
    splitting: true,
    entryNames: "[name]-[hash]",
    chunkNames: "shared-[hash]",
  });
  for (const { path, contents } of outputFiles) {
    const name = basename(path);
    manifest[name.replace(/-[^-]+(?=\.js$)/, "")] = `/assets/${name}`;
    made.set(`assets/${name}`, contents);
  }
}

/** The content of the <svg> of each icon that pages use. */
function icons(): Record<string, string> {
  return Object.fromEntries(iconNames.map((name) => [name, insideOf(`node_modules/lucide-static/icons/${name}.svg`)]));
}

function insideOf(drawing: string): string {
  const svg = readFileSync(join(root, drawing), "utf8");
  return svg
    .replace(/^[^]*?<svg[^>]*>|<\/svg>\s*$/g, "")
    .replaceAll(/\s*\n\s*/g, "")
    .replaceAll(" />", "/>");
}

async function bundled(entry: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    ...usual,
    entryPoints: [entry],
    banner: entry.endsWith(".ts") ? { js: noVncNotice() } : {},
  });
  const [file] = outputFiles;
  if (!file) throw new Error(`${entry} made no file`);
  return file.contents;
}

/** noVNC's licence requires a link to its source. */
function noVncNotice(): string {
  const { version, license } = JSON.parse(readFileSync(join(root, "node_modules/@novnc/novnc/package.json"), "utf8"));
  return `/*! noVNC ${version}, ${license}: https://github.com/novnc/noVNC/tree/v${version} */`;
}

function add(name: string, content: Uint8Array): void {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 10);
  const { name: stem, ext } = parse(name);
  manifest[name] = `/assets/${stem}-${hash}${ext}`;
  made.set(`assets/${stem}-${hash}${ext}`, content);
}

function headers(): string {
  const cached = Object.values(manifest).map(
    (path) => `${path}\n  Cache-Control: public, max-age=31536000, immutable\n`,
  );
  const safe = Object.entries(safeHeaders).map(([name, value]) => `  ${name}: ${value}\n`);
  return `/assets/*\n${safe.join("")}${cached.join("")}`;
}

/** Writes new files before it deletes old ones, so that a running service always finds the old or the new ones. */
function replace(): void {
  mkdirSync(join(folder, "assets"), { recursive: true });
  for (const [name, content] of made) writeFileSync(join(folder, name), content);
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (name !== "assets" && !made.has(name)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}
