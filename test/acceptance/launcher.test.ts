import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { listenersOf } from "../../builder-agent/test/support/listeners.ts";
import { asNobody } from "../../builder-agent/test/support/nobody.ts";
import { openControl } from "../../scripts/launch/control.ts";
import { marked } from "../../scripts/launch/leftovers.ts";
import { descendants, end, isAlive, untilGone } from "../../scripts/launch/process-tree.ts";
import { readReady } from "../../scripts/launch/ready-file.ts";
import { readSecrets } from "../../scripts/launch/secrets.ts";
import { freePort, until } from "./support/service.ts";

const root = new URL("../..", import.meta.url).pathname;
const state = mkdtempSync(join(tmpdir(), "kiln-launcher-"));
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const starters: number[] = [];

/** Runs `npm start` without npm, because npm does not pass on the exit code. */
function start(...options: string[]) {
  const starter = spawn(
    "node",
    ["scripts/start.mjs", "--no-debian", "--state", state, "--port", String(port), ...options],
    {
      cwd: root,
    },
  );
  const pid = Number(starter.pid);
  starters.push(pid);
  let output = "";
  starter.stdout.on("data", (chunk) => (output += chunk));
  starter.stderr.on("data", (chunk) => (output += chunk));
  const exit = new Promise<number | null>((resolve) => starter.on("close", resolve));
  const ready = () =>
    until("ready.json is there", 120, () => {
      if (starter.exitCode !== null) throw new Error(`the launcher ended with ${starter.exitCode}:\n${output}`);
      return readReady(state);
    });
  /** All process ids of this start, including processes that have lost their parent since they were listed. */
  const tree = () => [pid, ...descendants(pid)];
  const launcher = () => Number(descendants(pid)[0]);
  return { starter, exit, ready, tree, launcher, output: () => output };
}

const api = (path: string, user: string, key: string) =>
  fetch(`${url}/api/v2/user${path}`, { headers: { authorization: `Basic ${btoa(`${user}:${key}`)}` } });

const admin = (...words: string[]) =>
  spawnSync("node", ["scripts/node24.mjs", "scripts/admin.ts", ...words, "--state", state], {
    cwd: root,
    encoding: "utf8",
  });

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // ended
  }
}

/** The steps of a first start that fill the service. */
const loading = /Template sets|Repositories of the sample distribution/;

describe("npm start", () => {
  // Leftovers of a failed test must not break the next one.
  afterEach(() => end(starters.filter(isAlive), 10_000));
  afterAll(() => rmSync(state, { recursive: true, force: true }));

  it("starts a service, prints its address, and stops at SIGTERM", async () => {
    const run = start("--no-agent");
    const ready = await run.ready();
    expect(ready).toEqual({ url, username: "tux", api_key: expect.stringMatching(/^\S{12,}$/), agent_pid: null });
    expect(statSync(join(state, "ready.json")).mode & 0o777).toBe(0o600);
    expect(statSync(join(state, "worker")).mode & 0o777).toBe(0o700);

    const health = await fetch(`${url}/admin/health`, {
      headers: { authorization: `Bearer ${readSecrets(state).ADMIN_SECRET}` },
    });
    expect(await health.json()).toMatchObject({ ok: true, wasm: true });
    const sets = await api("/template_sets", ready.username, ready.api_key);
    expect(await sets.text()).toContain("<name>default</name>");
    await until("the summary is printed", 300, () => run.output().includes("Ctrl-C stops everything"));
    expect(run.output()).toContain(`curl -u tux:KEY ${url}/api/v2/user/template_sets`);
    expect(run.output()).toMatch(loading);
    expect(run.output()).not.toContain(ready.api_key); // it is not a terminal

    const tree = run.tree();
    expect(tree.length).toBeGreaterThanOrEqual(3); // starter, launcher, workerd
    run.starter.kill("SIGTERM");
    expect(await run.exit).toBe(0);
    expect([tree.filter(isAlive), marked(state), readReady(state)]).toEqual([[], [], undefined]);
  });

  it("restarts without the work of the first start, with the same account", async () => {
    const run = start("--no-agent");
    const ready = await run.ready();
    expect(run.output()).not.toMatch(loading);
    expect((await api("/account", ready.username, ready.api_key)).status).toBe(200);
    run.starter.kill("SIGINT");
    expect(await run.exit).toBe(0);
  });

  it.each(["starter", "launcher"])("starts again after its %s was killed", async (which) => {
    const killed = start("--no-agent");
    await killed.ready();
    const tree = killed.tree();
    process.kill(which === "starter" ? Number(killed.starter.pid) : killed.launcher(), "SIGKILL");
    await killed.exit;
    // The start must be immediate. Leftovers must not block it.
    const again = start("--no-agent");
    await until("the summary is printed", 300, () => again.output().includes("Kiln is ready"));
    expect(await untilGone(tree, 1_000)).toBe(true);
    expect((await fetch(`${url}/user/show_api_key`)).status).toBe(401);
    again.starter.kill("SIGTERM");
    expect(await again.exit).toBe(0);
  });

  it("refuses a second service on its state or its port", async () => {
    const first = start("--no-agent");
    await first.ready();
    const sameState = start("--no-agent");
    expect(await sameState.exit).toBe(1);
    expect(sameState.output()).toContain(`${state} is in use by a running Kiln (process ${first.launcher()})`);

    const other = join(state, "other");
    const samePort = start("--no-agent", "--state", other);
    expect(await samePort.exit).toBe(1);
    expect(samePort.output()).toMatch(
      new RegExp(`Port ${port} on 127\\.0\\.0\\.1 is in use by process \\d+ \\(.*workerd`),
    );
    expect(readReady(other)).toBeUndefined();

    expect(readReady(state)).toMatchObject({ url });
    expect((await fetch(`${url}/user/show_api_key`)).status).toBe(401);
    first.starter.kill("SIGTERM");
    await first.exit;
  });

  it("serves admin commands, and shares no storage", async () => {
    const run = start("--no-agent");
    await run.ready();
    const added = admin("account", "add", "ada", "--email", "ada@example.org", "--display-name", "Ada");
    expect(added).toMatchObject({ status: 0, stderr: "" });
    const key = /API key\s+(\S+)/.exec(added.stdout)?.[1] ?? "";
    expect((await api("/account", "ada", key)).status).toBe(200);
    expect(admin("account", "list").stdout).toMatch(/^ada\s+ada@example\.org\s+Ada\s/m);

    const renewed = admin("account", "rekey", "ada").stdout.trim();
    expect((await api("/account", "ada", key)).status).toBe(401);
    expect((await api("/account", "ada", renewed)).status).toBe(200);

    expect(admin("account", "add", "ada", "--email", "ada@example.org").status).toBe(1);
    expect(admin("account", "rekey", "nobody")).toMatchObject({
      status: 1,
      stderr: "kiln: There is no account nobody.\n",
    });
    expect(admin("agent", "add", "second").stdout).toMatch(/^token\s+\S{20,}/m);
    expect(admin("agent", "remove", "second").status).toBe(0);
    expect(admin("agent", "remove", "second").status).toBe(1);
    expect(admin("templates", "load", "templates/tiny.json").stdout).toMatch(/^Loaded \d+ templates/);

    const listeners = listenersOf(run.tree());
    expect(listeners).toContain(`127.0.0.1:${port}`);
    for (const address of listeners) {
      const object = `http://${address}/cdn-cgi/local/r2/public/kiln/repositories/tiny/main/repodata/repomd.xml`;
      expect(await asNobody(object)).toMatch(/ (403|404)$/);
    }
    run.starter.kill("SIGTERM");
    await run.exit;
  });

  it("does a POST once, although workerd was killed before the answer", async () => {
    const run = start("--no-agent");
    const { username, api_key: apiKey } = await run.ready();
    await until("the templates are there", 60, () => run.output().includes("Kiln is ready"));
    const control = openControl(join(state, "run"));
    const order = (sql: string) => control.batch([{ sql, values: [] }]);
    const headers = { authorization: `Basic ${btoa(`${username}:${apiKey}`)}`, "idempotency-key": "once" };
    const post = () => fetch(`${url}/api/v2/user/appliances?clone_from=1&name=Once`, { method: "POST", headers });
    const isBusy = () =>
      fetch(`${url}/api/v2/user/account`, { headers, signal: AbortSignal.timeout(2_000) }).then(
        () => false,
        () => true,
      );
    // The storing of the answer never ends.
    await order(`CREATE TRIGGER slow BEFORE UPDATE OF status ON idempotent_answers
      BEGIN SELECT count(*) FROM packages a, packages b, packages c, packages d, packages e, packages f; END`);

    const first = post().then(
      ({ status }) => status,
      () => "broken off",
    );
    await until("the answer is being stored", 30, isBusy);
    const runtime = run.tree().find((pid) => commandOf(pid).includes("workerd\0serve\0")) ?? 0;
    process.kill(runtime, "SIGKILL");
    expect(await first).toBe("broken off");
    await until("the database answers again", 30, () =>
      order("DROP TRIGGER slow").then(
        () => true,
        () => false,
      ),
    );
    const second = await until("the key is free", 15, async () => {
      const answer = await post();
      return answer.status === 409 ? undefined : answer;
    });

    expect([second.status, second.headers.get("idempotency-replayed")]).toEqual([200, null]);
    const [rows] = await order("SELECT id FROM appliances WHERE name = 'Once'");
    expect(rows).toEqual([{ id: Number(/<id>(\d+)</.exec(await second.text())?.[1]) }]);
    control.close();
    run.starter.kill("SIGTERM");
    expect(await run.exit).toBe(0);
  });

  it("restarts a killed agent, and stops it with the rest", async () => {
    const run = start();
    const before = await until("an agent runs", 120, () => readReady(state)?.agent_pid);
    process.kill(before, "SIGKILL");
    const after = await until("another agent runs", 30, () => {
      const pid = readReady(state)?.agent_pid;
      return pid === before ? undefined : pid;
    });
    expect(isAlive(after)).toBe(true);
    const tree = run.tree();
    run.starter.kill("SIGTERM");
    expect(await run.exit).toBe(0);
    expect([tree.filter(isAlive), isAlive(after), marked(state)]).toEqual([[], false, []]);
  });

  it("starts no bare agent on a public address, and explains why", async () => {
    const run = start("--host", "0.0.0.0");
    expect((await run.ready()).agent_pid).toBeNull();
    await until("the summary is printed", 300, () => run.output().includes("Ctrl-C stops everything"));
    expect(run.output()).toMatch(/No builder agent: with --host 0\.0\.0\.0 .*--trust-accounts/s);
    run.starter.kill("SIGTERM");
    await run.exit;
  });

  it("keeps its secrets through all of this", () => {
    expect(Object.keys(readSecrets(state))).toHaveLength(6);
    expect(readFileSync(join(state, "worker.log"), "utf8")).not.toContain(readSecrets(state).ADMIN_SECRET);
  });
});
