/** npm run package:agent: makes a tarball and a .deb of the builder agent in dist/agent, each with its own Node. */
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { command } from "./launch/command.ts";
import { Complaint } from "./launch/complaint.ts";
import { projectRoot } from "./launch/project.ts";
import { print } from "./launch/progress.ts";

const architectures: Record<string, string> = { x64: "amd64", arm64: "arm64" };
/**
 * The agent's sources and data. It shares with the Worker the contract, deltas, and the code that reads signed
 * statements and lists of packages.
 */
const attest = ["envelope", "dsse", "package-list"].map((name) => `src/lib/attest/${name}.ts`);
const parts = [
  "builder-agent/src",
  "builder-agent/guest",
  "builder-agent/roots",
  "builder-agent/shims",
  "src/lib/contract",
  "src/lib/delta",
  ...attest,
];
const installed = "usr/lib/kiln-agent";

const Package = z.object({ version: z.string(), dependencies: z.record(z.string(), z.string()).default({}) });
const at = (path: string) => join(projectRoot, path);
const packaging = (name: string) => at(`builder-agent/packaging/${name}`);
const readPackage = (path: string) => Package.parse(JSON.parse(readFileSync(path, "utf8")));

/** Makes archives reproducible: sorted names, and no owner or time of this machine. */
const sameEachTime = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "--format=gnu"];

const { version } = readPackage(at("package.json"));
const architecture = architectures[process.arch];
const nodeProgram = at(`node_modules/node-linux-${process.arch}/bin/node`);
/** Used by the test: makes only the .deb, uncompressed, in this folder. */
const [quick] = process.argv.slice(2);
const isQuick = quick !== undefined;
const folder = quick ?? at("dist/agent");
const root = join(folder, "root");

try {
  await make();
} catch (error) {
  if (!(error instanceof Complaint)) throw error;
  console.error(`kiln: ${error.message}`);
  process.exitCode = 1;
}

async function make(): Promise<void> {
  if (!architecture) throw new Complaint(`There is no package for ${process.arch}.`);
  rmSync(folder, { recursive: true, force: true });
  copyAgent(join(root, installed));
  if (!isQuick) await makeTarball(architecture);
  copySystemFiles();
  writeControl(architecture);
  const deb = join(folder, `kiln-agent_${version}_${architecture}.deb`);
  await command("dpkg-deb", [
    "--build",
    "--root-owner-group",
    ...(isQuick ? ["-Znone"] : ["-Zzstd", "-z10"]),
    root,
    deb,
  ]);
  print(deb);
  rmSync(root, { recursive: true });
}

async function makeTarball(architecture: string): Promise<void> {
  const tarball = join(folder, `kiln-agent-${version}-${architecture}.tar.gz`);
  await command("tar", [...sameEachTime, "-C", join(root, "usr/lib"), "-czf", tarball, "kiln-agent"]);
  print(tarball);
}

function copyAgent(to: string): void {
  for (const part of parts) cpSync(at(part), join(to, part), { recursive: true });
  // Marks the sources as modules. It refers to no path outside the package.
  writeFileSync(join(to, "package.json"), `${JSON.stringify({ type: "module", private: true })}\n`);
  for (const name of dependencies("builder-agent/package.json")) {
    cpSync(at(`node_modules/${name}`), join(to, "node_modules", name), { recursive: true });
  }
  mkdirSync(join(to, "bin"), { recursive: true });
  cpSync(nodeProgram, join(to, "bin/node"));
  cpSync(packaging("kiln-agent"), join(to, "bin/kiln-agent"));
  chmodSync(join(to, "bin/kiln-agent"), 0o755);
  for (const name of ["agent.example.json", "bare.conf", "kiln-agent.service"]) cpSync(packaging(name), join(to, name));
  cpSync(at("builder-agent/README.md"), join(to, "README.md"));
  cpSync(at("LICENSE"), join(to, "LICENSE"));
  writeFileSync(join(to, "version"), `${version}\n`);
}

/** The packages that a package needs, directly or indirectly. */
function dependencies(file: string): Set<string> {
  const names = Object.keys(readPackage(at(file)).dependencies);
  return new Set(names.flatMap((name) => [name, ...dependencies(`node_modules/${name}/package.json`)]));
}

function copySystemFiles(): void {
  const own = join(root, installed);
  for (const path of ["usr/bin", "lib/systemd/system", "usr/share/doc/kiln-agent", "etc/kiln-agent"]) {
    mkdirSync(join(root, path), { recursive: true });
  }
  symlinkSync("../lib/kiln-agent/bin/kiln-agent", join(root, "usr/bin/kiln-agent"));
  cpSync(join(own, "kiln-agent.service"), join(root, "lib/systemd/system/kiln-agent.service"));
  for (const name of ["README.md", "agent.example.json", "bare.conf"]) {
    cpSync(join(own, name), join(root, "usr/share/doc/kiln-agent", name));
  }
  cpSync(at("LICENSE"), join(root, "usr/share/doc/kiln-agent/copyright"));
}

function writeControl(architecture: string): void {
  const lines = [
    "Package: kiln-agent",
    `Version: ${version}`,
    `Architecture: ${architecture}`,
    "Maintainer: The operators of Kiln <root@localhost>",
    "Section: admin",
    "Priority: optional",
    "Depends: libc6 (>= 2.28), libstdc++6 (>= 8)",
    "Recommends: bubblewrap, qemu-system-x86, qemu-utils",
    "Suggests: kiwi, zypper, rpm, createrepo-c, rsync, debootstrap",
    "Description: builder agent of Kiln",
    " Pulls builds from a Kiln service, makes the images with KIWI NG, and boots testdrives in QEMU.",
    " kiln-agent doctor lists what this host lacks.",
  ];
  mkdirSync(join(root, "DEBIAN"), { recursive: true });
  writeFileSync(join(root, "DEBIAN/control"), `${lines.join("\n")}\n`);
  // Installation does not start the agent, because it needs a configuration first. Removal stops it.
  script("postinst", `if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi`);
  script(
    "prerm",
    `if [ "$1" = remove ] && [ -d /run/systemd/system ]; then systemctl disable --now kiln-agent.service; fi`,
  );
  script("postrm", `if [ "$1" = purge ]; then rm -rf /etc/kiln-agent /var/lib/kiln-agent; fi`);
}

function script(name: string, line: string): void {
  writeFileSync(join(root, "DEBIAN", name), `#!/bin/sh\nset -e\n${line}\n`, { mode: 0o755 });
}
