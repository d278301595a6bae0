import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../../scripts/launch/project.ts";
import { formBytes } from "../../src/http/form.ts";

/** Cloudflare's smallest limit for a body. It answers a larger body with HTML, which no client of the API can read. */
const edgeBytes = 100_000_000;

it("refuses a file that is too large before Cloudflare does", () => {
  const wrangler = readFileSync(join(projectRoot, "wrangler.toml"), "utf8");
  const [, production = ""] = wrangler.split("[env.production.vars]");
  const [, largestMb] = /^MAX_UPLOAD_MB = "(\d+)"/m.exec(production) ?? [];
  const largestBytes = Number(largestMb) * 2 ** 20 + formBytes;

  expect(largestBytes).toBeLessThan(edgeBytes);
  expect(largestBytes).toBeGreaterThan(0.99 * edgeBytes);
});
