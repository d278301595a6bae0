import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { agentToken, startFakeWorker } from "./fake-worker.ts";
import { eventually, fakeKiwi, temporaryDir } from "./support/agent-place.ts";

const project = fileURLToPath(new URL("../..", import.meta.url));

/** Makes the package and installs it into a separate root, as dpkg does on a build host. */
function install(dir: string): string {
  const script = join(project, "scripts/package-agent.ts");
  execFileSync(process.execPath, [script, join(dir, "made")], { cwd: project, stdio: "ignore" });
  const { version } = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as { version: string };
  const architecture = process.arch === "arm64" ? "arm64" : "amd64";
  const root = join(dir, "root");
  mkdirSync(join(root, "var/lib/dpkg/info"), { recursive: true });
  mkdirSync(join(root, "var/lib/dpkg/updates"), { recursive: true });
  writeFileSync(join(root, "var/lib/dpkg/status"), "");
  const deb = join(dir, `made/kiln-agent_${version}_${architecture}.deb`);
  // Scripts of packages would run in this root, which has no libc.
  const forced = ["--force-depends", "--force-script-chrootless", "--force-not-root"];
  execFileSync("dpkg", [`--root=${root}`, ...forced, "--install", deb], { stdio: "ignore" });
  return root;
}

let place: Awaited<ReturnType<typeof temporaryDir>>;
let root: string;
let program: string;

beforeAll(async () => {
  place = await temporaryDir();
  root = install(place.path);
  program = join(root, "usr/lib/kiln-agent/bin/kiln-agent");
});
afterAll(() => place[Symbol.asyncDispose]());

it("installs a complete agent: commands, unit, and an agent that works", async () => {
  await using dir = await temporaryDir();
  await using worker = await startFakeWorker();
  const config = join(root, "etc/kiln-agent/agent.json");
  // Hides all files of this checkout and every other Node.
  const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: dir.path, KILN_AGENT_CONFIG: config };

  const untouched = spawnSync(program, ["doctor"], { env: { ...env, KILN_AGENT_CONFIG: "" }, encoding: "utf8" });
  expect(untouched).toMatchObject({ stderr: "", stdout: expect.stringContaining("testdrive") });
  execFileSync(program, ["setup", `${worker.url}/`], { env, input: `${agentToken}\n` });
  expect(JSON.parse(readFileSync(config, "utf8"))).toMatchObject({ url: worker.url, token: agentToken });
  expect(statSync(config).mode & 0o777).toBe(0o600);
  // The program exits before it reads the token, so writing the token to it may fail.
  expect(() => execFileSync(program, ["setup", worker.url], { env, input: "", stdio: "pipe" })).toThrow(
    /exists\. Edit it/,
  );
  expect(execFileSync(program, ["version"], { env, encoding: "utf8" })).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(execFileSync(program, ["doctor", "--help"], { env, encoding: "utf8" })).toContain("what this host can build");
  const unit = join(dir.path, "kiln-agent.service");
  const installed = readFileSync(join(root, "lib/systemd/system/kiln-agent.service"), "utf8");
  expect(installed).toContain("ExecStart=/usr/bin/kiln-agent run");
  // systemd starts no unit that lacks one of these folders, unless "-" precedes it. A host may have no apt.
  expect(installed).toContain("ReadWritePaths=-/var/cache/apt -/var/lib/apt\n");
  writeFileSync(unit, installed.replace("/usr/bin/kiln-agent", program));
  expect(spawnSync("systemd-analyze", ["verify", unit], { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });

  const more = {
    KILN_AGENT_STATE_DIR: join(dir.path, "state"),
    KILN_AGENT_ISOLATION: "none",
    KILN_AGENT_KIWI: fakeKiwi,
  };
  const agent = spawn(program, ["run"], { env: { ...env, ...more }, stdio: "ignore" });
  const ended = new Promise((resolve) => agent.on("close", resolve));
  await eventually("hello", () => worker.hellos.length > 0);
  expect(worker.hellos[0]).toMatchObject({ protocol: 1, capabilities: { isolation: "none" } });
  agent.kill("SIGUSR2");
  expect(await ended).toBe(0);
});

it("has builder roots, and its advice names its own commands", async () => {
  await using dir = await temporaryDir();
  const config = join(dir.path, "agent.json");
  const settings = { url: "http://127.0.0.1:1", token: agentToken, stateDir: join(dir.path, "state") };
  writeFileSync(config, JSON.stringify({ ...settings, isolation: "none", root: "debian-13" }));
  const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: dir.path, KILN_AGENT_CONFIG: config };
  const run = (...args: string[]) => spawnSync(program, args, { env, encoding: "utf8" });

  expect(run("root", "list")).toMatchObject({ status: 0, stdout: "This agent has no builder root.\n", stderr: "" });
  const advice = "kiln-agent root make debian-13";
  expect(run("root", "packages", "debian-13")).toMatchObject({ status: 2, stderr: expect.stringContaining(advice) });
  expect(run("doctor").stdout).toContain(advice);
  expect(run("run", "--help").stdout).toContain("kiln-agent root --help");

  // The definitions with their keys, and the script that enters a root.
  const roots = "builder-agent/roots";
  const own = join(root, "usr/lib/kiln-agent", roots);
  expect(run("root", "--help").stdout).toContain(`${own}\n`);
  expect(readdirSync(own)).toEqual(readdirSync(join(project, roots)));
});
