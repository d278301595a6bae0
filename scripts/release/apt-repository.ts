import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { command } from "../launch/command.ts";
import { architectureOf, type IndexFile, type PackageFile, packagesIndex, releaseFile } from "./apt-index.ts";
import { sha256Of } from "./digest.ts";

export const suite = "stable";
export const component = "main";
const pool = "pool/main/k/kiln-agent";

/** Adds packages to an apt repository, which is created if necessary, and signs its index with a gpg key. */
export async function addToRepository(
  folder: string,
  { packages, key, date }: { packages: readonly string[]; key: string; date: Date },
): Promise<void> {
  mkdirSync(join(folder, pool), { recursive: true });
  for (const file of packages) copyFileSync(file, join(folder, pool, basename(file)));
  const files: PackageFile[] = [];
  for (const name of readdirSync(join(folder, pool))) files.push(await describe(folder, `${pool}/${name}`));
  const release = join(folder, "dists", suite);
  rmSync(release, { recursive: true, force: true });
  const architectures = [...new Set(files.map(architectureOf))].toSorted();
  const index = architectures.flatMap((architecture) =>
    writeIndex(
      release,
      `${component}/binary-${architecture}`,
      files.filter((one) => architectureOf(one) === architecture),
    ),
  );
  writeFileSync(join(release, "Release"), releaseFile({ suite, component, architectures, date, files: index }));
  await sign(folder, release, key);
}

async function describe(folder: string, path: string): Promise<PackageFile> {
  const file = join(folder, path);
  const content = readFileSync(file);
  const control = await command("dpkg-deb", ["--field", file]);
  return { control, path, size: content.length, sha256: sha256Of(content) };
}

function writeIndex(release: string, path: string, packages: readonly PackageFile[]): IndexFile[] {
  mkdirSync(join(release, path), { recursive: true });
  const text = Buffer.from(packagesIndex(packages));
  return Object.entries({ Packages: text, "Packages.gz": gzipSync(text) }).map(([name, content]) => {
    writeFileSync(join(release, path, name), content);
    return { path: `${path}/${name}`, size: content.length, sha256: sha256Of(content) };
  });
}

/** Signs the Release file in both ways that apt reads, and puts the public key next to the repository. */
async function sign(folder: string, release: string, key: string): Promise<void> {
  const file = join(release, "Release");
  const gpg = ["--batch", "--yes", "--local-user", key];
  await command("gpg", [...gpg, "--clearsign", "--output", join(release, "InRelease"), file]);
  await command("gpg", [...gpg, "--armor", "--detach-sign", "--output", `${file}.gpg`, file]);
  await command("gpg", [...gpg, "--export", "--output", join(folder, "kiln.gpg"), key]);
}
