import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newWorld, type World } from "./run.ts";

/** The operator's files at the end, without random values. */
const result = ({ cloudflare: { account }, service: { state } }: World) => ({
  databases: [...account.databases].map(([name, { sql }]) => [
    name,
    sql.prepare("SELECT name FROM d1_migrations").all(),
  ]),
  buckets: [...account.buckets],
  queues: [...account.queues].map(([name, { consumers }]) => [
    name,
    consumers.map(({ type, script }) => [type, script]),
  ]),
  workers: [...account.workers].map(([name, { secrets }]) => [name, Object.keys(secrets)]),
  domains: [...account.domains],
  schedules: account.schedules,
  service: [state.accounts, state.catalogues, [...state.agents.keys()]],
});

async function walked(): Promise<World> {
  const world = await newWorld();
  expect((await world.deploy()).problem).toBe("");
  return world;
}

describe("npm run deploy", () => {
  it("takes an empty account to a service with an account, a base system and an agent", async () => {
    const world = await walked();
    const { queues, workers, databases } = result(world);
    expect(queues).toEqual([
      ["kiln-chores", [["worker", "kiln"]]],
      ["kiln-dead-imports", [["worker", "kiln"]]],
      ["kiln-imports", [["worker", "kiln"]]],
      ["kiln-jobs", [["http_pull", undefined]]],
      ["kiln-slow-imports", [["worker", "kiln"]]],
    ]);
    const migrations = readdirSync("migrations").filter((name) => name.endsWith(".sql"));
    const applied = migrations.toSorted().map((name) => ({ name }));
    expect(databases).toEqual([
      ["kiln", applied],
      ["kiln-packages", applied],
    ]);
    expect(workers[0]?.[1]).toHaveLength(7);
    expect(result(world)).toMatchObject({
      buckets: ["kiln"],
      domains: ["kiln.example.com", "guests.example.com"],
      schedules: [{ cron: "* * * * *" }],
      service: [["admin"], ["debian-13"], ["builder1"]],
    });
    expect(world.cloudflare.unknown).toEqual([]);
  });

  it("migrates the database before it deploys the code", async () => {
    const { cloudflare } = await walked();
    const paths = cloudflare.changes.map(({ path }) => path);
    const lastMigration = paths.findLastIndex((path) => path.endsWith("/query"));
    expect(lastMigration).toBeLessThan(paths.findIndex((path) => path.endsWith("/workers/scripts/kiln")));
    expect(lastMigration).toBeGreaterThan(0);
  });

  it("changes nothing in a second run, and leaves wrangler.toml alone", async () => {
    const before = readFileSync("wrangler.toml", "utf8");
    const world = await walked();
    const count = world.cloudflare.changes.length;
    const again = await world.deploy();
    expect(again).toMatchObject({ problem: "" });
    expect(again.output).not.toMatch(/^[…✓]/m);
    expect(world.cloudflare.changes).toHaveLength(count);
    expect(readFileSync("wrangler.toml", "utf8")).toBe(before);
  });

  it("keeps its secrets private, and sends them only to Cloudflare", async () => {
    const world = await newWorld();
    const { output } = await world.deploy();
    const secrets: Record<string, string> = JSON.parse(readFileSync(join(world.folder, "secrets.json"), "utf8"));
    for (const secret of Object.values(secrets)) expect(output).not.toContain(secret);
    expect(world.cloudflare.account.workers.get("kiln")?.secrets).toEqual(secrets);
    expect(readdirSync(world.folder)).not.toContain("secrets-to-put.json");
    for (const name of readdirSync(world.folder)) expect(statSync(join(world.folder, name)).mode & 0o077).toBe(0);
  });

  it("shows with --plan what it would do, and does nothing", async () => {
    const world = await newWorld();
    const plan = await world.deploy(["--plan"]);
    expect(plan.output).toMatch(/done +Cloudflare login\n +to do +Cloudflare account\n +unknown +Host names/);
    expect(world.cloudflare.changes).toEqual([]);
    await world.deploy();
    expect((await world.deploy(["--plan"])).output).not.toMatch(/to do|unknown/);
  });

  it("deploys the same code again with --redeploy", async () => {
    const world = await walked();
    const before = world.cloudflare.account.workers.get("kiln")?.versionId;
    expect((await world.deploy(["--redeploy"])).problem).toBe("");
    expect(world.cloudflare.account.workers.get("kiln")?.versionId).not.toBe(before);
  });

  it("makes a second environment with its own names", async () => {
    const world = await walked();
    const planned = await world.deploy(["--env", "staging", "--host", "staging.example.com", "--plan"]);
    expect(planned.output).not.toContain("done      Queue");
    await world.deploy([
      "--env",
      "staging",
      "--host",
      "staging.example.com",
      "--guests-host",
      "guests-staging.example.com",
    ]);
    const { account } = world.cloudflare;
    expect([...account.databases.keys()]).toEqual(["kiln", "kiln-packages", "kiln-staging", "kiln-staging-packages"]);
    expect([...account.queues.keys()].filter((name) => name.startsWith("kiln-staging-"))).toHaveLength(5);
    expect(account.workers.get("kiln-staging")?.secrets["ADMIN_SECRET"]).toMatch(/^[0-9a-f]{64}$/);
    expect(account.workers.get("kiln-staging")?.secrets["ADMIN_SECRET"]).not.toBe(
      account.workers.get("kiln")?.secrets["ADMIN_SECRET"],
    );
  });
});

describe("npm run deploy, interrupted", () => {
  it("goes on after every change whose answer was lost", async () => {
    const whole = result(await walked());
    const world = await newWorld();
    const lost = new Set<string>();
    // Loses each change once: it is made, and the run ends as if it was killed then.
    world.cloudflare.onChange(({ method, path, body }) => {
      const change = `${method} ${path} ${path.endsWith("/query") ? "" : JSON.stringify(body)}`;
      if (lost.has(change)) return undefined;
      lost.add(change);
      return "lost";
    });
    let runs = 1;
    for (; runs < 60; runs++) if ((await world.deploy()).problem === "") break;
    expect(runs).toBeGreaterThan(14);
    expect(result(world)).toEqual(whole);
  });

  it("makes the agent's token again if the run ended before it was stored", async () => {
    const world = await newWorld();
    await world.deploy();
    const file = join(world.folder, "agent-builder1.json");
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ token: "token-1" });
    rmSync(file);
    await world.deploy();
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ token: "token-2" });
    expect([...world.service.state.agents]).toEqual([["builder1", "token-2"]]);
  });
});

describe("npm run deploy, refused", () => {
  it.each([
    ["a missing login", { CLOUDFLARE_API_TOKEN: "" }, /^You are not logged in\. Run npx wrangler login/],
    [
      "a foreign token for the queue",
      { QUEUE_API_TOKEN: "no-such-token" },
      /^Cloudflare does not accept this token for the queue/,
    ],
    [
      "Cloudflare that does not answer",
      { CLOUDFLARE_API_BASE_URL: "http://127.0.0.1:1" },
      /fetch failed|No answer from Cloudflare/,
    ],
  ])("says what to do about %s", async (_, changed, expected) => {
    const world = await newWorld();
    expect((await world.deploy([], changed)).problem).toMatch(expected);
  });

  it("shows Cloudflare's reason, and goes on when it is gone", async () => {
    const world = await newWorld();
    const noRight = { status: 403, code: 10042, message: "Please enable R2 through the Cloudflare Dashboard." };
    world.cloudflare.onChange(({ path }) => (path.endsWith("/r2/buckets") ? noRight : undefined));
    expect((await world.deploy()).problem).toMatch(
      /^wrangler r2 bucket create kiln failed[^]*Please enable R2 .* \[code: 10042\]/,
    );
    world.cloudflare.onChange(() => undefined);
    expect((await world.deploy()).problem).toBe("");
  });

  it("refuses an account that the login cannot use", async () => {
    const world = await newWorld();
    const { problem } = await world.deploy(["--account-id", "f".repeat(32)]);
    expect(problem).toMatch(/^Your login cannot use the account f+\. It can use:\n {2}0123456789abcdef/);
  });

  it.each(["kiln", "kiln-packages"])("refuses a database that is newer than the checkout: %s", async (name) => {
    const world = await walked();
    world.cloudflare.account.databases
      .get(name)
      ?.sql.exec("INSERT INTO d1_migrations(name) VALUES ('9999_future.sql')");
    expect((await world.deploy()).problem).toMatch(
      /^The database is newer than this version of Kiln: it has 9999_future\.sql/,
    );
  });

  it("uses what already exists, and does not replace its secrets", async () => {
    const world = await walked();
    const secrets = { ...world.cloudflare.account.workers.get("kiln")?.secrets };
    rmSync(world.folder, { recursive: true });
    expect((await world.deploy()).problem).toMatch(/ADMIN_SECRET that is not stored here/);
    const admin = { KILN_ADMIN_SECRET: secrets["ADMIN_SECRET"] };
    expect((await world.deploy([], admin)).problem).toBe("");
    expect(world.cloudflare.account.workers.get("kiln")?.secrets).toEqual(secrets);
    expect([...world.cloudflare.account.databases.keys()]).toEqual(["kiln", "kiln-packages"]);
  });

  it.each([
    ["--env", "Prod"],
    ["--env", "slow"],
    ["--host", "https://kiln.example.com"],
    ["--nonsense", "x"],
  ])("refuses %s %s", async (...line) => {
    const world = await newWorld();
    expect((await world.deploy(line)).problem).toMatch(/--env|--host|--nonsense/);
    expect(world.cloudflare.changes).toEqual([]);
  });
});
