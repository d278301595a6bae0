import { cp, lstat, mkdir, readlink, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { outputOf } from "../process.ts";
import { neededPackages, wantedPackages } from "../roots/contents.ts";
import { closureOf, installedPackages, type HostPackage } from "./host-packages.ts";
import { rootFiles } from "./root-files.ts";
import type { Kernel } from "./kernel.ts";
import { writeMountPoints, writeSettings } from "./root-tree.ts";

export interface RootSources {
  packages: HostPackage[];
  /** Needed packages that this host lacks. */
  missing: string[];
}

/** The installed packages that this host's builder root is made from. If one changes, the root must be made again. */
export function rootSources(): RootSources {
  const { packages, missing } = closureOf(wantedPackages, installedPackages());
  return { packages, missing: missing.filter((name) => neededPackages.includes(name)) };
}

/** Writes the read-only root of builds, a squashfs, from the files of the host's own packages. */
export async function makeBuilderRoot(
  { packages }: RootSources,
  { kernel, workDir, into }: { kernel: Kernel; workDir: string; into: string },
): Promise<void> {
  const tree = join(workDir, "tree");
  await writeHostTree(tree, kernel);
  const list = join(workDir, "files");
  const paths = rootFiles(packages).map((path) => `${path.slice(1)}\0`);
  await writeFile(list, paths.join(""));
  const limit = AbortSignal.timeout(600_000);
  await outputOf("bash", ["-o", "pipefail", "-c", packing, "bash", tree, list, into], limit);
}

/** $1: our own tree, $2: the host's files, $3: the squashfs. */
const packing = `
tar --create --file=- --no-recursion --owner=0 --group=0 --numeric-owner --null \\
  --directory="$1" --files-from=<(cd "$1" && find . -mindepth 1 -printf '%P\\0' | sort --zero-terminated) \\
  --directory=/ --files-from="$2" |
  sqfstar -quiet -no-progress -no-xattrs -comp lz4 "$3"
`;

/** Writes what no package contains: mount points, accounts and the kernel's modules. */
async function writeHostTree(tree: string, { modulesDir }: Kernel): Promise<void> {
  await writeMountPoints(tree);
  for (const name of ["bin", "sbin", "lib", "lib32", "lib64", "libx32"]) {
    const found = await lstat(`/${name}`).catch(() => undefined);
    if (found?.isSymbolicLink()) await symlink(await readlink(`/${name}`), join(tree, name));
  }
  await writeSettings(tree, "/");
  await mkdir(join(tree, "usr/lib"), { recursive: true });
  await cp(join(modulesDir, "lib"), join(tree, "usr/lib"), { recursive: true });
}
