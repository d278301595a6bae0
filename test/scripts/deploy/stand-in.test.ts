import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { experimental_getWranglerCommands } from "wrangler";
import { newWorld, type World } from "./run.ts";

/** A node of wrangler's own list of commands. */
type Listed = {
  definition?: { type: string; args?: Record<string, { alias?: string | string[] }> };
  subtree: Map<string, Listed>;
};

/** The options of a command in the real wrangler. Undefined if there is no such command. */
function optionsOf(words: readonly string[]): string[] | undefined {
  const { registry, globalFlags } = experimental_getWranglerCommands() as unknown as {
    registry: Listed;
    globalFlags: Record<string, unknown>;
  };
  let found: Listed = registry;
  for (const word of words) {
    const next = found.subtree.get(word);
    if (!next) break;
    found = next;
  }
  if (found.definition?.type !== "command") return undefined;
  return [...Object.keys(found.definition.args ?? {}), ...Object.keys(globalFlags)];
}

it("the stand-in gets only commands and options that the pinned wrangler knows", async () => {
  const world = await newWorld();
  expect((await world.deploy()).problem).toBe("");
  const lines = readFileSync(world.log, "utf8")
    .trim()
    .split("\n")
    .map((line): string[] => JSON.parse(line));
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines) {
    const known = optionsOf(line.filter((word) => !word.startsWith("--")));
    expect(known, line.join(" ")).toBeDefined();
    for (const option of line.filter((word) => word.startsWith("--"))) expect(known).toContain(option.slice(2));
  }
  expect(optionsOf(["d1", "creates"])).toBeUndefined();
});

/** The changes of a walk, as far as both programs must make the same. */
function changes({ cloudflare: { changes, account } }: World) {
  const ids = new Map([...account.databases].map(([name, { uuid }]) => [uuid, name]));
  const shown = changes.map(({ method, path, body }) => {
    const place = path.replace(/[0-9a-f-]{36}/, (id) => ids.get(id) ?? id);
    return `${method} ${place} ${/query$|consumers$|scripts/.test(place) ? "" : JSON.stringify(body)}`.trim();
  });
  // The real wrangler also makes requests that an empty account does not need: uploads of assets, previews, a check of
  // the domains.
  return [...new Set(shown)].filter((each) => !/assets-upload-session|subdomain|changeset/.test(each)).toSorted();
}

const result = ({ cloudflare: { account } }: World) => ({
  queues: [...account.queues].map(([name, { consumers }]) => [
    name,
    consumers.map(({ type, script }) => [type, script]),
  ]),
  tables: [...account.databases.values()].map(({ sql }) =>
    sql.prepare("SELECT sql FROM sqlite_master WHERE name NOT LIKE 'd1_%' ORDER BY name").all(),
  ),
  secrets: [...account.workers.values()].map(({ secrets, tag }) => [Object.keys(secrets).toSorted(), tag]),
  domains: [...account.domains].toSorted(),
  schedules: account.schedules,
  pull: account.queues.get("kiln-jobs")?.consumers.map(({ settings }) => settings),
});

// Runs wrangler itself for each step of the deploy.
it("the stand-in changes an account like the pinned wrangler", { timeout: 1_200_000 }, async () => {
  const real = await newWorld("real");
  const quick = await newWorld();
  expect((await real.deploy()).problem).toBe("");
  expect((await quick.deploy()).problem).toBe("");
  expect(real.cloudflare.unknown).toEqual([]);
  expect(changes(quick)).toEqual(changes(real));
  const { secrets: ofReal, ...realRest } = result(real);
  const { secrets: ofQuick, ...quickRest } = result(quick);
  expect(quickRest).toEqual(realRest);
  expect(ofQuick.map(([names]) => names)).toEqual(ofReal.map(([names]) => names));
  // All bindings of the code have reached Cloudflare.
  const bound = real.cloudflare.account.workers
    .get("kiln")
    ?.bindings.map((each) => String(Reflect.get(Object(each), "name")));
  expect(bound).toEqual(
    expect.arrayContaining(["DB", "BLOBS", "JOBS", "BUILDS", "EVENTS", "SIGN_IN_THROTTLE", "ASSETS"]),
  );
  expect((await real.deploy(["--plan"])).output).not.toMatch(/to do|unknown/);
});

it("the pinned wrangler refuses to deploy by hand", async () => {
  const { spawnSync } = await import("node:child_process");
  const program = join("node_modules/wrangler/bin/wrangler.js");
  const { KILN_DEPLOY: _, ...env } = process.env;
  const refused = spawnSync(process.execPath, [program, "deploy", "--dry-run"], { env, encoding: "utf8" });
  expect(refused.status).toBe(1);
  expect(refused.stdout + refused.stderr).toContain("kiln: use npm run deploy.");
});
