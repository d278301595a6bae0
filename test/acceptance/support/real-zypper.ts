import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FrozenPackage } from "../../../builder-agent/src/contract.ts";
import { enclosed, outputOf } from "../../../builder-agent/src/process.ts";
import { inRoot } from "../../../builder-agent/src/roots/enter.ts";

/** zypp-rpm is the program that zypper runs with rpm 6. */
const programs = [
  ...["zypper", "rpm", "rpmkeys", "rpmdb", "repo2solv", "rpmdb2solv"].map((name) => `/usr/bin/${name}`),
  "/usr/libexec/zypp/zypp-rpm",
];

/** The directory of its libraries, which are newer than Tiny Linux's. */
const own = "/usr/lib/real-zypper";

/** $1 is the tree of the package. Replaces each program by a script that starts it with its own libraries. */
const copying = `
set -eu
mkdir -p "$1${own}/bin" "$1${own}/lib"
for program in ${programs.join(" ")}; do
  [ -e "$program" ] || continue
  name=\${program##*/}
  cp -L "$program" "$1${own}/bin/"
  ldd "$program" | grep -o '/[^ ]*' | while read -r library; do cp -L "\${library%:}" "$1${own}/lib/"; done
  mkdir -p "$1\${program%/*}"
  printf '#!/bin/sh\\nexec %s --library-path %s %s "$@"\\n' \\
    ${own}/lib/ld-linux-x86-64.so.2 ${own}/lib "${own}/bin/$name" > "$1$program"
  chmod 755 "$1$program"
done
cp -a /usr/lib/rpm "$1/usr/lib/rpm"
mkdir -p "$1/usr/lib/rpm/macros.d"
echo '%_db_backend ndb' > "$1/usr/lib/rpm/macros.d/macros.ndb"
`;

const spec = `Name: real-zypper
Version: 1.0
Release: 1
Summary: rpm and zypper of a builder root, which know ndb
License: GPL-2.0-or-later
AutoReqProv: no
Provides: zypper rpm
%global __os_install_post %{nil}
%global debug_package %{nil}
%description
The programs of a builder root, with their libraries.
%install
cp -a %{tree}/. %{buildroot}/
%files
/usr
`;

/** The rpm and the zypper of a builder root, packaged in their own folder. */
export async function packZypper(root: { file: string }, workDir: string): Promise<FrozenPackage> {
  const tree = join(workDir, "tree");
  mkdirSync(tree);
  const command = inRoot(root, workDir, ["sh", ["-c", copying, "sh", tree]]);
  await outputOf(...enclosed(...command), AbortSignal.timeout(120_000));
  const file = join(workDir, "real-zypper.spec");
  writeFileSync(file, spec);
  const defines = [`tree ${tree}`, `_topdir ${workDir}`, `_rpmdir ${workDir}/own`, `_dbpath ${workDir}/db`];
  const options = [...defines, "_binary_payload w1.gzdio"].flatMap((define) => ["--define", define]);
  execFileSync("rpmbuild", ["-bb", "--quiet", "--target", "x86_64", ...options, file], {
    env: { ...process.env, HOME: workDir },
  });
  const location = "x86_64/real-zypper-1.0-1.x86_64.rpm";
  const bytes = readFileSync(join(workDir, "own", location));
  return {
    name: "real-zypper",
    epoch: 0,
    version: "1.0",
    release: "1",
    arch: "x86_64",
    repository: "own",
    location,
    size: bytes.length,
    checksum: { type: "sha256", value: createHash("sha256").update(bytes).digest("hex") },
  };
}
