import { chmod, chown, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { isIgnitionConfig, type Seed } from "../contract.ts";
import { hasSucceeded, run } from "../process.ts";
import { asNobody, nobody } from "./rights.ts";
import type { SessionDir } from "./session-dir.ts";

const seedName = "seed.iso";
const ignitionName = "config.ign";
/** xorriso makes every path absolute, and the user nobody cannot enter the folder's parents. */
const here = "/proc/self/cwd";
/** A limit that the texts of a seed cannot reach. */
const maxDiskBytes = 4 * 1024 * 1024;

/** Gives the seed to the machine, and returns QEMU's arguments for it. */
export async function makeSeed(seed: Seed, dir: SessionDir, signal: AbortSignal): Promise<string[]> {
  if (seed.userData === undefined || !isIgnitionConfig(seed.userData)) return await makeSeedDisk(seed, dir, signal);
  await writeFile(dir.file(ignitionName), seed.userData, { mode: 0o600 });
  // Ignition's name for it on the platform "qemu" (its documentation, "Supported platforms").
  return ["-fw_cfg", `name=opt/com.coreos/config,file=${ignitionName}`];
}

/**
 * Writes the disk on which cloud-init finds the seed (NoCloud), and returns QEMU's arguments for it. The session's
 * directory is deleted with the session, and so is the disk. The output of xorriso is not logged, because it may
 * contain names of the files that it reads.
 */
async function makeSeedDisk(seed: Seed, dir: SessionDir, signal: AbortSignal): Promise<string[]> {
  const folder = dir.file("seed");
  await mkdir(folder, { mode: 0o700 });
  try {
    const texts = textsOf(seed, dir);
    await Promise.all(
      Object.entries(texts).map(([name, text]) => writeFile(join(folder, name), text, { mode: 0o644 })),
    );
    if (process.getuid?.() === 0) await chown(folder, nobody, nobody);
    const write = ["-as", "mkisofs", "-quiet", "-volid", "CIDATA", "-joliet", "-rock", "-graft-points"];
    const paths = ["-output", `${here}/${seedName}`, ...Object.keys(texts).map((name) => `${name}=${here}/${name}`)];
    const limited = [`--fsize=${maxDiskBytes}`, "--core=0", "--", "xorriso", ...write, ...paths];
    const exit = await run(...asNobody("prlimit", limited), {
      cwd: folder, // entered while still root: the user nobody cannot enter its parents
      env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C", HOME: "/nonexistent" },
      signal,
      onLine: () => {},
    });
    if (!hasSucceeded(exit)) throw new Error("The disk with the data of the first boot could not be made.");
    const disk = join(folder, seedName);
    if (process.getuid?.() === 0) await chown(disk, 0, 0);
    await chmod(disk, 0o600);
    await rename(disk, dir.file(seedName));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return drive();
}

/**
 * The seed's files. cloud-init needs both of the first two. A new instance id makes it begin again, as after a copy.
 */
function textsOf({ userData = "", metaData, networkConfig }: Seed, { path }: SessionDir): Record<string, string> {
  return {
    "user-data": userData,
    "meta-data": metaData ?? `instance-id: testdrive-${basename(path)}\n`,
    ...(networkConfig !== undefined && { "network-config": networkConfig }),
  };
}

function drive(): string[] {
  const file = { driver: "file", filename: seedName, "read-only": true };
  const node = { driver: "raw", "node-name": "seed", "read-only": true, file };
  return ["-blockdev", JSON.stringify(node), "-device", "virtio-blk-pci,drive=seed"];
}
