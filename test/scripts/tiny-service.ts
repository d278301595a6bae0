import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Bundle } from "../../scripts/launch/bundle.ts";

/**
 * Stores objects, and fetches through the proxy. Reports how cron has called it since its start, and the origin of a
 * request.
 */
const worker = `
  const crons = [];
  export default {
    async fetch(request, env) {
      const { pathname, searchParams } = new URL(request.url);
      const [by, to] = [searchParams.get("by"), searchParams.get("to")];
      if (by) return await env[by].fetch(to).catch(() => new Response("cannot be reached", { status: 502 }));
      const wanted = searchParams.get("url");
      if (wanted) return env.CATALOGUE_PROXY.fetch(wanted, { headers: { host: new URL(wanted).host } });
      if (request.method === "PUT") await env.BLOBS.put(pathname.slice(1), request.body);
      const tables = await env.DB.prepare("SELECT name FROM sqlite_master WHERE name = 'builds'").all();
      return Response.json({ crons, pathname, tables: tables.results.length, from: request.cf?.clientIp });
    },
    scheduled({ cron }) { crons.push(cron); },
    queue() {},
  };`;

/** A Worker that starts in a second, with the same bindings as ours. */
export function tinyBundle(folder: string): Bundle {
  writeFileSync(join(folder, "tiny.js"), worker);
  return {
    inputsHash: "",
    modules: [{ type: "ESModule", path: "tiny.js" }],
    worker: {
      name: "kiln",
      bindings: {},
      compatibilityDate: "2026-10-20",
      durableObjects: {},
      d1Databases: { DB: "tiny" },
      r2Buckets: { BLOBS: "kiln" },
    },
  };
}
