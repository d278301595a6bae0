import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { build, type Plugin } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";

const root = new URL("../..", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "kiln-openapi-"));
let printed: string;

/**
 * Modules that only the Worker can load. The description never calls them, but the routes that contain its schemas
 * import them.
 */
const withoutRuntime: Plugin = {
  name: "without-runtime",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^cloudflare:|\.wasm$/ }, ({ path }) => ({ path, namespace: "absent" }));
    onLoad({ filter: /.*/, namespace: "absent" }, () => ({ contents: "module.exports = {};" }));
  },
};

const program = `
  import { openApiDocument } from "./src/openapi/document.ts";
  process.stdout.write(JSON.stringify(openApiDocument("https://kiln.example.org")));`;

beforeAll(async () => {
  const outfile = join(folder, "document.mjs");
  const stdin = { contents: program, resolveDir: root, loader: "ts" as const };
  // A CommonJS dependency loads Node's modules with require.
  const js = 'import * as modules from "node:module"; globalThis.require = modules.createRequire(import.meta.url);';
  await build({
    stdin,
    outfile,
    banner: { js },
    bundle: true,
    platform: "node",
    format: "esm",
    plugins: [withoutRuntime],
  });
  printed = execFileSync(process.execPath, [outfile], { encoding: "utf8" });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const complaintsAbout = async (document: object) => (await new Validator().validate({ ...document })).errors;

it("is valid OpenAPI 3.1", async () => {
  expect(printed).toMatch(/^\{"openapi":"3\.1\./);
  expect(await complaintsAbout(JSON.parse(printed))).toBeUndefined();
});

it("is reported as invalid if an answer has no description", async () => {
  const document = JSON.parse(printed);
  document.paths["/api/v2/user/account"] = { get: { responses: { 200: {} } } };

  expect(JSON.stringify(await complaintsAbout(document))).toContain("~1api~1v2~1user~1account");
});
