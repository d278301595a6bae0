/** The release of Debian that is measured. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { debianMirrors } from "../../scripts/launch/debian-mirrors.ts";

export const catalogues = { bookworm: "debian-12", trixie: "debian-13" } as const;
export type Codename = keyof typeof catalogues;

const isKnown = (codename: string): codename is Codename => Object.hasOwn(catalogues, codename);

/** Throws unless this machine runs a release of Debian that has a catalogue. */
export function releaseOfHost(): Codename {
  const [, codename = ""] = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync("/etc/os-release", "utf8")) ?? [];
  if (!isKnown(codename)) throw new Error("this machine runs neither Debian 12 nor 13");
  return codename;
}

/**
 * Makes every apt that this process starts use one release, from the mirrors of this machine's own apt. Returns a
 * function that undoes this.
 */
export async function useRelease(codename: Codename, folder: string): Promise<Disposable> {
  const { archive, security } = await debianMirrors(AbortSignal.timeout(60_000));
  const signed = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]";
  const suites = [`${archive} ${codename}`, `${archive} ${codename}-updates`, `${security} ${codename}-security`];
  const at = (name: string) => join(folder, name);
  const options = {
    "Dir::State": at("state"),
    "Dir::Cache": at("cache"),
    "Dir::State::status": at("status"),
    "Dir::Etc::sourcelist": at("sources.list"),
    "Dir::Etc::sourceparts": "-",
    "APT::Sandbox::User": "root",
  };
  mkdirSync(at("state/lists/partial"), { recursive: true });
  mkdirSync(at("cache"), { recursive: true });
  writeFileSync(at("status"), "");
  writeFileSync(at("sources.list"), suites.map((suite) => `deb ${signed} ${suite} main\n`).join(""));
  writeFileSync(
    at("apt.conf"),
    Object.entries(options)
      .map(([name, value]) => `${name} "${value}";\n`)
      .join(""),
  );
  const before = process.env["APT_CONFIG"];
  process.env["APT_CONFIG"] = at("apt.conf");
  execFileSync("apt-get", ["update"], { stdio: "pipe" });
  return {
    [Symbol.dispose]: () => {
      if (before === undefined) delete process.env["APT_CONFIG"];
      else process.env["APT_CONFIG"] = before;
    },
  };
}
