import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { newMachine, run, type Ended, type Machine } from "../../cli/test/support/machine.ts";
import { adminClient, type AdminClient } from "../../scripts/admin/client.ts";
import { readSecrets } from "../../scripts/launch/secrets.ts";
import { OwnAgent } from "../../test/acceptance/support/own-agent.ts";
import { startService, type Service } from "../../test/acceptance/support/service.ts";

const program = fileURLToPath(new URL("../../builder-agent/src/main.ts", import.meta.url));
const agentDiskMb = 3000;
/** Builds share only packages. */
const agentKeys = { isolation: "none", minFreeGb: 0, packageCacheGb: 0.5, preparedGb: 0 };
const limits = { MAX_BUILDS: "100", MAX_BUILDS_PER_ACCOUNT: "100" };

/** A service without agents, a publisher with the command line, and everything that the stranger needs. */
export class Workshop implements AsyncDisposable {
  readonly service: Service;
  /** The publisher's machine. */
  readonly machine: Machine;
  readonly folder = mkdtempSync(join(tmpdir(), "kiln-proof-"));
  /** Outside the folders that are hidden from the stranger. */
  readonly #elsewhere = mkdtempSync("/var/tmp/kiln-stranger-");
  readonly #agents: OwnAgent[] = [];

  private constructor(service: Service, machine: Machine) {
    this.service = service;
    this.machine = machine;
  }

  static async open(): Promise<Workshop> {
    const workshop = new Workshop(await startService(["--no-agent"], limits), newMachine());
    const { url, username, api_key: key } = workshop.service.ready();
    await workshop.kiln(["login", url, "--account", username], `${key}\n`);
    return workshop;
  }

  get url(): string {
    return this.service.ready().url;
  }

  get #admin(): AdminClient {
    return adminClient(this.url, readSecrets(this.service.stateDir).ADMIN_SECRET ?? "");
  }

  /** Runs the publisher's command line. Throws if it fails. Returns what it printed. */
  async kiln(words: readonly string[], input = ""): Promise<string> {
    const ended = await this.machine.kiln(words, { input });
    if (ended.code !== 0) throw new Error(`kiln ${words.join(" ")}: ${ended.code} ${ended.stdout}${ended.stderr}`);
    return ended.stdout;
  }

  /** Starts an agent with its own token and its own disk. */
  async agent(name: string, keys: Record<string, unknown> = {}, env: Record<string, string> = {}): Promise<OwnAgent> {
    const folder = join(this.folder, name);
    mkdirSync(folder);
    const { token } = await this.#admin.addAgent(name);
    const agent = new OwnAgent(folder, { url: this.url, token, ...agentKeys, ...keys }, agentDiskMb);
    this.#agents.push(agent);
    await agent.start(env);
    return agent;
  }

  /** Publishes an appliance's newest version, and downloads its image. Returns the path of the image. */
  async publish(appliance: string, version = "0.0.1"): Promise<string> {
    await this.kiln(["publish", appliance, version, "--yes"]);
    return await this.download(appliance, version);
  }

  async download(appliance: string, version = "0.0.1"): Promise<string> {
    const folder = join(this.folder, "downloads", `${appliance}-${version}`);
    rmSync(folder, { recursive: true, force: true });
    await this.kiln(["download", appliance, "--version", version, "--output", folder]);
    const [provenance = ""] = readdirSync(folder).filter((name) =>
      /^(?!.*\.(rebuilds|vex)\.).*\.intoto\.jsonl$/.test(name),
    );
    return join(folder, provenance.replace(/\.intoto\.jsonl$/, ""));
  }

  /**
   * Runs `kiln-agent rebuild` for a stranger, without a token, as if on another host with another clock. This process
   * sees empty folders in place of the state of the service, of its agents and of the publisher.
   */
  async rebuildElsewhere(provenance: string, words: readonly string[] = ["--service", this.url]): Promise<Ended> {
    const hidden = [this.service.stateDir, ...this.#agents.map(({ stateDir }) => stateDir), this.machine.folder];
    const hide = hidden.map((path) => `mount -t tmpfs none '${path}'`).join(" && ");
    const command = ["rebuild", provenance, "--bare", "--state", join(this.#elsewhere, "state"), ...words];
    const inside = `${hide} && hostname stranger && umask 077 && exec "$0" "$@"`;
    const args = ["--mount", "--uts", "sh", "-c", inside, process.execPath, program, ...command];
    const env = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", TZ: "Pacific/Chatham", LANG: "de_DE.UTF-8" };
    return await run("unshare", args, { env, input: "", cwd: this.#elsewhere });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const agent of this.#agents) await agent[Symbol.asyncDispose]();
    await this.service.stop();
    this.machine[Symbol.dispose]();
    for (const folder of [this.folder, this.#elsewhere]) rmSync(folder, { recursive: true, force: true });
  }
}

/** A package that prints another greeting. It has the name and version of Tiny Linux's `hello`, or another name. */
export function ownRpm(folder: string, name: string): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}.spec`);
  const spec = `Name: ${name}
Version: 1.1
Release: 1
Summary: A greeting
License: MIT
BuildArch: noarch
%description
A greeting.
%install
install -d %{buildroot}/usr/bin
printf '#!/bin/sh\\necho not the one that was chosen\\n' > %{buildroot}/usr/bin/${name}
%files
%attr(755, root, root) /usr/bin/${name}
`;
  const defines = [`_topdir ${folder}`, `_rpmdir ${folder}`, "_rpmfilename %%{NAME}.rpm", `_dbpath ${folder}/db`];
  const options = defines.flatMap((define) => ["--define", define]);
  writeFileSync(file, spec);
  execFileSync("rpmbuild", ["-bb", "--quiet", ...options, file], {
    env: { ...process.env, HOME: folder },
  });
  return join(folder, `${name}.rpm`);
}
