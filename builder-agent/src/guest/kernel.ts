import { chmod, copyFile, cp, mkdir, readdir, readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { outputOf } from "../process.ts";

/** A script that runs inside the guest. */
export const guestScript = (name: "init.sh" | "builder.sh" | "kiwi.sh") =>
  fileURLToPath(new URL(`../../guest/${name}`, import.meta.url));

/** Debian's kernel for virtual machines: a third of the usual size, with all file systems that KIWI mounts. */
const kernelPackage = "linux-image-cloud-amd64";

/** Modules in the initial RAM disk. */
const bootModules = ["virtio_pci", "virtio_blk", "virtio_console", "virtio_rng", "squashfs", "overlay", "ext4"];
/** Modules that builds may need. A built-in one has no file. */
const buildModules = [
  ["loop", "isofs", "vfat", "nls_cp437", "nls_ascii", "nls_iso8859-1", "nls_utf8", "xfs", "btrfs", "udf", "fuse"],
  ["crc32c_generic", "crc32c_intel", "libcrc32c", "crc32_pclmul", "crct10dif_pclmul"],
  ["dm_mod", "dm_crypt", "dm_snapshot", "dm_mirror", "dm_verity", "dm_integrity", "dm_thin_pool"],
  ["raid0", "raid1", "efivarfs", "xts", "aesni_intel"],
].flat();

const limitMs = 300_000;
const tool = (command: string, args: string[]) => outputOf(command, args, AbortSignal.timeout(limitMs));

export interface Kernel {
  version: string;
  /** Contains `lib/modules/VERSION`. */
  modulesDir: string;
}

/** Fetches the kernel with apt, which verifies Debian's signatures. Writes `vmlinuz` and `initrd.gz` into `dir`. */
export async function makeKernel(dir: string, workDir: string): Promise<Kernel> {
  const tree = join(workDir, "kernel");
  await tool("dpkg-deb", ["--extract", await download(workDir), tree]);
  const kernel = await takeKernel(tree, { vmlinuz: join(dir, "vmlinuz"), modulesDir: join(workDir, "modules") });
  await writeInitialArchive(kernel, { busybox: "/bin/busybox", workDir, into: join(dir, "initrd.gz") });
  return kernel;
}

/** Copies the kernel, and the modules that builds need, from a tree into which the kernel's package was unpacked. */
export async function takeKernel(
  tree: string,
  { vmlinuz, modulesDir }: { vmlinuz: string; modulesDir: string },
): Promise<Kernel> {
  const found = await findKernel(tree);
  if (!found) throw new Error(`${kernelPackage} has no kernel`);
  const { version, file } = found;
  await copyFile(file, vmlinuz);
  await tool("depmod", ["--basedir", tree, version]);
  await copyModules(tree, modulesDir, { version, names: [...bootModules, ...buildModules] });
  return { version, modulesDir };
}

/** The kernel is in /boot, or, after Debian 13, next to its modules. */
async function findKernel(tree: string): Promise<{ version: string; file: string } | undefined> {
  const namesIn = (dir: string) => readdir(join(tree, dir)).catch((): string[] => []);
  const image = (await namesIn("boot")).find((name) => name.startsWith("vmlinuz-"));
  if (image !== undefined) return { version: image.slice("vmlinuz-".length), file: join(tree, "boot", image) };
  for (const version of await namesIn("lib/modules")) {
    const dir = join("lib/modules", version);
    if ((await namesIn(dir)).includes("vmlinuz")) return { version, file: join(tree, dir, "vmlinuz") };
  }
  return undefined;
}

async function download(workDir: string): Promise<string> {
  const depends = await tool("apt-cache", ["depends", "--important", kernelPackage]);
  const name = /Depends: (linux-image-\S+)/.exec(depends)?.[1];
  if (name === undefined) throw new Error(`apt does not list ${kernelPackage}: run apt-get update`);
  const into = join(workDir, "download");
  await mkdir(into);
  // apt warns on standard error, because it cannot drop root's rights in a directory of root.
  await tool("sh", ["-c", 'cd "$1" && exec apt-get --quiet --quiet download "$2"', "sh", into, name]);
  const [file] = await readdir(into);
  if (file === undefined) throw new Error(`apt did not download ${name}`);
  return join(into, file);
}

interface Modules {
  version: string;
  names: readonly string[];
}

/** Copies modules with their dependencies, and writes an index for them. */
async function copyModules(from: string, to: string, { version, names }: Modules): Promise<void> {
  const dir = join("lib/modules", version);
  const files = moduleFiles(await readFile(join(from, dir, "modules.dep"), "utf8"), names);
  for (const file of [...files, "modules.builtin", "modules.builtin.modinfo", "modules.order"]) {
    await mkdir(dirname(join(to, dir, file)), { recursive: true });
    await copyFile(join(from, dir, file), join(to, dir, file));
    // busybox reads no compressed modules.
    if (file.endsWith(".xz")) await tool("xz", ["--decompress", join(to, dir, file)]);
  }
  await tool("depmod", ["--basedir", to, version]);
}

/**
 * Finds the files of modules and of their dependencies in `modules.dep` (FILE: DEPENDENCIES). Exported for its test.
 */
export function moduleFiles(dependencies: string, names: readonly string[]): string[] {
  const wanted = new Set(names.map(plain));
  const lines = dependencies.split("\n").map((line) => line.split(/:? /).map((word) => word.replace(/:$/, "")));
  const chosen = lines.filter(([file = ""]) => wanted.has(plain(file.replace(/^.*\/|\.ko.*$/g, ""))));
  return [...new Set(chosen.flat().filter((file) => file !== ""))];
}

const plain = (name: string) => name.replaceAll("-", "_");

/** Writes the initial RAM disk of guests. It mounts the builder root, and contains the script that runs there. */
export async function writeInitialArchive(
  { version, modulesDir }: Kernel,
  { busybox, workDir, into }: { busybox: string; workDir: string; into: string },
): Promise<void> {
  const dir = join(workDir, "initial");
  for (const name of ["bin", "proc", "sys", "dev", "lower", "scratch", "new"]) {
    await mkdir(join(dir, name), { recursive: true });
  }
  await copyModules(modulesDir, dir, { version, names: bootModules });
  await copyFile(busybox, join(dir, "bin/busybox"));
  await symlink("busybox", join(dir, "bin/sh"));
  await symlink("bin", join(dir, "sbin")); // the kernel itself calls /sbin/modprobe
  for (const [script, name] of [
    ["init.sh", "init"],
    ["builder.sh", "builder.sh"],
  ] as const) {
    await cp(guestScript(script), join(dir, name));
    await chmod(join(dir, name), 0o755);
  }
  // Not one pipe, because that would hide that cpio failed or is not installed.
  const pack =
    'cd "$1" && find . | LC_ALL=C sort | cpio --create --format=newc --owner=0:0 --quiet > "$2" && gzip -1n < "$2" > "$3"';
  await tool("sh", ["-c", pack, "sh", dir, join(workDir, "initial.cpio"), into]);
}
