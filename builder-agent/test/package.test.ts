import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
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

it("installs a complete agent: commands, unit, and an agent that works", async () => {
  await using dir = await temporaryDir();
  await using worker = await startFakeWorker();
  const root = install(dir.path);
  const program = join(root, "usr/lib/kiln-agent/bin/kiln-agent");
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
  writeFileSync(unit, installed.replace("/usr/bin/kiln-agent", program));
  expect(spawnSync("systemd-analyze", ["verify", unit], { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });

  const place = {
    KILN_AGENT_STATE_DIR: join(dir.path, "state"),
    KILN_AGENT_ISOLATION: "none",
    KILN_AGENT_KIWI: fakeKiwi,
  };
  const agent = spawn(program, ["run"], { env: { ...env, ...place }, stdio: "ignore" });
  const ended = new Promise((resolve) => agent.on("close", resolve));
  await eventually("hello", () => worker.hellos.length > 0);
  expect(worker.hellos[0]).toMatchObject({ protocol: 1, capabilities: { isolation: "none" } });
  agent.kill("SIGUSR2");
  expect(await ended).toBe(0);
});
