import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sourcesFile } from "../../scripts/release/apt-index.ts";
import { addToRepository, component, suite } from "../../scripts/release/apt-repository.ts";

const folder = mkdtempSync(join(tmpdir(), "kiln-apt-"));
const repository = join(folder, "repository");
const index = join(repository, "dists", suite, component, "binary-amd64/Packages");
const date = new Date(Date.now() - 3_600_000);
const key = "releases@kiln.test";

beforeAll(async () => {
  chmodSync(folder, 0o755); // apt reads as a user without privileges
  process.env["GNUPGHOME"] = join(folder, "gnupg");
  mkdirSync(join(folder, "gnupg"), { mode: 0o700 });
  const wanted = ["--batch", "--quiet", "--passphrase", "", "--quick-generate-key", key, "ed25519", "sign", "never"];
  execFileSync("gpg", wanted, { stdio: "ignore" });
  await addToRepository(repository, { packages: [packageOf("0.1.0")], key, date });
  await addToRepository(repository, { packages: [packageOf("0.2.0")], key, date });
});
afterAll(() => {
  spawnSync("gpgconf", ["--kill", "gpg-agent"]);
  delete process.env["GNUPGHOME"];
  rmSync(folder, { recursive: true, force: true });
});

/** A package of this version, for amd64. */
function packageOf(version: string): string {
  const root = join(folder, version);
  mkdirSync(join(root, "DEBIAN"), { recursive: true });
  const control = `Package: kiln-agent\nVersion: ${version}\nArchitecture: amd64\nMaintainer: x <x@y.test>\nDescription: test\n`;
  writeFileSync(join(root, "DEBIAN/control"), control);
  const file = join(folder, `kiln-agent_${version}_amd64.deb`);
  execFileSync("dpkg-deb", ["--build", "--root-owner-group", root, file], { stdio: "ignore" });
  return file;
}

/** Runs one of apt's programs on a host that knows only this repository. */
function apt(program: string, args: readonly string[], options: { keyring?: string } = {}) {
  const host = mkdtempSync(join(folder, "host-"));
  chmodSync(host, 0o755);
  const keyring = options.keyring ?? join(repository, "kiln.gpg");
  for (const path of ["lists/partial", "archives/partial", "parts"]) mkdirSync(join(host, path), { recursive: true });
  writeFileSync(join(host, "status"), "");
  const sources = sourcesFile(`file:${repository}`, suite, component);
  writeFileSync(join(host, "kiln.sources"), sources.replace("/usr/share/keyrings/kiln.gpg", keyring));
  const settings = {
    "Dir::Etc::sourcelist": "/dev/null",
    "Dir::Etc::sourceparts": host,
    "Dir::Etc::parts": join(host, "parts"),
    "Dir::State::lists": join(host, "lists"),
    "Dir::State::status": join(host, "status"),
    "Dir::Cache": host,
    "APT::Architecture": "amd64",
    "APT::Sandbox::User": "root",
  };
  const given = Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  const updated = spawnSync("apt-get", [...given, "update"], { encoding: "utf8" });
  return { updated, ended: spawnSync(program, [...given, ...args], { encoding: "utf8", cwd: host }), host };
}

it("offers each version that was added, and apt fetches the newest", () => {
  const { updated, ended, host } = apt("apt-get", ["download", "kiln-agent"]);
  expect(updated).toMatchObject({ status: 0, stderr: "" });
  expect(ended).toMatchObject({ status: 0 });
  const fetched = readFileSync(join(host, "kiln-agent_0.2.0_amd64.deb"));
  expect(fetched.equals(readFileSync(join(folder, "kiln-agent_0.2.0_amd64.deb")))).toBe(true);
  const { ended: versions } = apt("apt-cache", ["madison", "kiln-agent"]);
  expect(versions.stdout.match(/0\.\d\.0/g)).toEqual(["0.2.0", "0.1.0"]);
});

it("is refused by apt with another key", () => {
  const { updated } = apt("apt-get", ["check"], { keyring: "/usr/share/keyrings/debian-archive-keyring.gpg" });
  expect(`${updated.stdout}${updated.stderr}`).toContain("NO_PUBKEY");
  expect(existsSync(join(repository, "kiln.gpg"))).toBe(true);
});

it("is refused by apt if its index is not the signed one", () => {
  const before = join(folder, "Packages");
  copyFileSync(index, before);
  copyFileSync(`${index}.gz`, `${before}.gz`);
  rmSync(`${index}.gz`);
  appendFileSync(index, "\n");
  try {
    expect(apt("apt-get", ["check"]).updated.status).not.toBe(0);
  } finally {
    copyFileSync(before, index);
    copyFileSync(`${before}.gz`, `${index}.gz`);
  }
});
