import { chmod, copyFile, cp, lstat, mkdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { outputOf } from "../process.ts";
import { closureOf, installedPackages, type HostPackage } from "./host-packages.ts";
import { rootFiles } from "./root-files.ts";
import { guestScript } from "./scripts.ts";
import type { Kernel } from "./kernel.ts";

/** KIWI and what it calls, by Debian's names. What of it is not installed here is not in the guest either. */
const wantedPackages = [
  ["kiwi", "kiwi-systemdeps", "zypper", "libsolv-tools", "rpm", "createrepo-c", "gpg", "gpgv", "gnupg"],
  ["fdisk", "gdisk", "parted", "e2fsprogs", "xfsprogs", "btrfs-progs", "dosfstools", "mtools", "kpartx", "dmsetup"],
  ["lvm2", "cryptsetup-bin", "xorriso", "squashfs-tools", "isolinux", "extlinux", "syslinux", "syslinux-common"],
  ["syslinux-utils", "grub-common", "grub2-common", "grub-pc-bin", "grub-efi-amd64-bin", "qemu-utils", "rsync"],
  ["xz-utils", "zstd", "util-linux", "udev", "kmod", "mount", "bash", "coreutils", "tar", "procps", "mawk", "iproute2"],
  ["patch", "cpio", "file", "binutils", "debootstrap", "dpkg"],
].flat();
/** Without these no image is made. */
const neededPackages = ["kiwi", "zypper", "rpm", "createrepo-c", "e2fsprogs", "kmod", "iproute2"];

export interface RootSources {
  packages: HostPackage[];
  /** Needed packages that this host lacks. */
  missing: string[];
}

/** What the builder root is made of on this host. If a version changes, it must be made again. */
export function rootSources(): RootSources {
  const { packages, missing } = closureOf(wantedPackages, installedPackages());
  return { packages, missing: missing.filter((name) => neededPackages.includes(name)) };
}

/** Writes the read-only root of builds, a squashfs, out of the host's own package files. */
export async function makeBuilderRoot(
  { packages }: RootSources,
  { kernel, workDir, into }: { kernel: Kernel; workDir: string; into: string },
): Promise<void> {
  const tree = join(workDir, "tree");
  await writeOwnTree(tree, kernel);
  const list = join(workDir, "files");
  await writeFile(
    list,
    rootFiles(packages)
      .map((path) => `${path.slice(1)}\0`)
      .join(""),
  );
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

const emptyDirs = ["proc", "sys", "dev", "run", "tmp", "build", "job", "root", "home", "srv", "mnt", "media"];
const stateDirs = ["var/tmp", "var/cache", "var/log", "var/lib/dpkg"];

/** What no package brings: mount points, accounts, the kernel's modules and our own scripts. */
async function writeOwnTree(tree: string, { modulesDir }: Kernel): Promise<void> {
  for (const dir of [...emptyDirs, ...stateDirs, "etc", "usr/lib/kiln"]) {
    await mkdir(join(tree, dir), { recursive: true });
  }
  for (const dir of ["tmp", "var/tmp"]) await chmod(join(tree, dir), 0o1777);
  for (const name of ["bin", "sbin", "lib", "lib32", "lib64", "libx32"]) {
    const found = await lstat(`/${name}`).catch(() => undefined);
    if (found?.isSymbolicLink()) await symlink(await readlink(`/${name}`), join(tree, name));
  }
  await symlink("/run", join(tree, "var/run"));
  await symlink("/run/lock", join(tree, "var/lock"));
  await symlink("/proc/self/mounts", join(tree, "etc/mtab"));
  for (const file of ["passwd", "group"]) await writeFile(join(tree, "etc", file), await accounts(file));
  await writeFile(join(tree, "etc/hostname"), "builder\n");
  await writeFile(join(tree, "etc/hosts"), "127.0.0.1 localhost builder\n");
  await writeFile(join(tree, "etc/fstab"), "");
  await cp(join(modulesDir, "lib"), join(tree, "usr/lib"), { recursive: true });
  await copyFile(guestScript("builder.sh"), join(tree, "usr/lib/kiln/builder.sh"));
  await chmod(join(tree, "usr/lib/kiln/builder.sh"), 0o755);
}

/** Debian's own, not this host's. */
const accounts = (file: string) => readFile(`/usr/share/base-passwd/${file}.master`, "utf8");
