import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { shims } from "../run/kiwi.ts";
import { enclosed, outputOf } from "../process.ts";
import { answerLimitMs, degraded, fine, missing, type Check } from "./check.ts";
import { scratchDir } from "./doctor-dir.ts";

/**
 * The operations that KIWI performs on the partition of a disk image, in the same order. `partx` is our shim. The trap
 * undoes everything, even after an error. $1: scratch directory, $2: shims. It runs in its own mount namespace.
 */
const roundTrip = `
set -eu
PATH="$2:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
cd "$1"
truncate --size=32M disk.raw
mkdir tree
loop=$(losetup --find --show disk.raw)
undo() { umount tree 2> /dev/null || true; partx --delete "$loop" 2> /dev/null || true; losetup --detach "$loop"; }
trap undo EXIT
printf 'label: dos\\n,,L\\n' | sfdisk --quiet --no-reread --no-tell-kernel "$loop"
parted --script "$loop" set 1 boot on
partx --add "$loop"
mkfs.ext4 -q -F "\${loop}p1"
mount "\${loop}p1" tree
echo kiln > tree/file
`;

export async function checkLoopDevice(stateDir: string): Promise<Check> {
  const name = "loop devices";
  await using dir = await scratchDir(stateDir);
  try {
    const script = enclosed("sh", ["-c", roundTrip, "sh", dir.path, shims]);
    await outputOf(...script, AbortSignal.timeout(answerLimitMs));
    return fine(name, "a disk was partitioned, formatted and mounted");
  } catch (error) {
    const why = error instanceof Error ? error.message.split(`${shims}: `).at(-1) : "";
    const fix = "run as root on a host with loop devices (modprobe loop)";
    return missing(name, why || "the round trip failed", ["builds"], fix);
  }
}

/** Partitions that outlive their loop device make the next build on it fail. The agent removes them when it starts. */
export async function checkStalePartitions(sysBlock = "/sys/block"): Promise<Check> {
  const name = "stale loop partitions";
  const loops = (await readdir(sysBlock).catch((): string[] => [])).filter((each) => /^loop\d+$/.test(each));
  const stale: string[] = [];
  for (const loop of loops) {
    const entries = await readdir(join(sysBlock, loop)).catch((): string[] => []);
    if (!entries.includes("loop")) stale.push(...entries.filter((entry) => /^loop\d+p\d+$/.test(entry)));
  }
  if (stale.length === 0) return fine(name, "none");
  const device = `/dev/${stale[0]?.replace(/p\d+$/, "")}`;
  const fix = `start the agent, or: losetup ${device} FILE; partx --delete ${device}; losetup --detach ${device}`;
  return degraded(name, stale.join(", "), [], fix);
}
