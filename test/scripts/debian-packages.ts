import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

// The packages are unpacked, not installed. Otherwise a packet filter or a database server would start on this machine.

/** The package cache of the sample distribution. Packages in it are not downloaded again. */
const cache = join(process.env["TINY_CACHE"] ?? join(homedir(), ".cache/kiln"), "debian");

/** Unpacks packages into `folder`, which has `usr` and `etc`. The version is the one that apt would install. */
export function unpackPackages(names: readonly string[], folder: string): void {
  for (const name of ["bin", "lib", "sbin"]) {
    mkdirSync(join(folder, "usr", name), { recursive: true });
    symlinkSync(join("usr", name), join(folder, name));
  }
  // dpkg-deb alone would replace these links with folders.
  const unpack = 'dpkg-deb --fsys-tarfile "$1" | tar --extract --keep-directory-symlink --directory="$2"';
  for (const file of packageFiles(names))
    execFileSync("bash", ["-e", "-o", "pipefail", "-c", unpack, "", file, folder]);
}

/** For packages with the version in their names: the package that `name` depends on. */
export function currentPackage(name: string): string {
  const depends = execFileSync("apt-cache", ["depends", "--important", name], { encoding: "utf8" });
  return /Depends: (\S+)$/m.exec(depends)?.[1] ?? name;
}

function packageFiles(names: readonly string[]): string[] {
  mkdirSync(cache, { recursive: true });
  const wanted = candidates(names);
  const missing = wanted.filter(([name, version]) => !cached(name, version));
  if (missing.length > 0) download(missing.map(([name, version]) => `${name}=${version}`));
  return wanted.map(([name, version]) => {
    const file = cached(name, version);
    if (file === undefined) throw new Error(`apt did not download ${name} ${version}`);
    return file;
  });
}

function candidates(names: readonly string[]): [name: string, version: string][] {
  const policy = execFileSync("apt-cache", ["policy", ...names], { encoding: "utf8" });
  return names.map((name) => {
    const of = policy.slice(`\n${policy}`.indexOf(`\n${name}:\n`));
    const [, version = "(none)"] = /^ {2}Candidate: (\S+)$/m.exec(of) ?? [];
    if (version === "(none)" || !of.startsWith(name)) throw new Error(`apt knows no ${name}: run apt-get update`);
    return [name, version];
  });
}

function cached(name: string, version: string): string | undefined {
  const begin = join(cache, `${name}_${version.replaceAll(":", "%3a")}`);
  return ["amd64", "all"].map((architecture) => `${begin}_${architecture}.deb`).find((file) => existsSync(file));
}

/** First downloads into a separate folder, so that the next test does not use a partial download. */
function download(packages: string[]): void {
  const partial = mkdtempSync(join(cache, "partial."));
  try {
    const asRoot = ["-o", "APT::Sandbox::User=root"];
    execFileSync("apt-get", ["download", "--quiet", ...asRoot, ...packages], { cwd: partial, stdio: "pipe" });
    for (const file of readdirSync(partial)) renameSync(join(partial, file), join(cache, file));
  } finally {
    rmSync(partial, { recursive: true });
  }
}
