import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { sentenceOf, type Log } from "./log.ts";
import { killProcess, outputOf, processesWhere } from "./process.ts";

/**
 * Kills processes that work below `dir`, then removes its mounts, and then detaches loop devices of files in it. Safe
 * to repeat.
 */
export async function clearLeftovers(dir: string, log: Log): Promise<void> {
  for (const pid of await processesWhere((each) => worksBelow(dir, each))) {
    log("killing a leftover process", { pid, dir });
    killProcess(pid);
  }
  // The deepest first, because a mount point is busy while something is mounted below it.
  for (const mount of (await mountsBelow(dir)).toReversed()) {
    log("unmounting", { mount });
    await tool("umount", [mount]).catch(() => tool("umount", ["--lazy", mount]).catch(complain(log)));
  }
  for (const device of await loopsBelow(dir)) {
    log("detaching a loop device", { device });
    await detach(device).catch(complain(log));
  }
  await clearStalePartitions().catch(complain(log));
}

/** Mount points at or below `dir` in our namespace, the shortest path first. */
export async function mountsBelow(dir: string): Promise<string[]> {
  const lines = (await readFile("/proc/self/mounts", "utf8")).split("\n");
  const points = lines.map((line) => unescapeMount(line.split(" ")[1] ?? ""));
  return points.filter((point) => isBelow(point, dir)).toSorted((a, b) => a.length - b.length);
}

/** The kernel writes space, tab, newline and backslash as octal numbers. */
const unescapeMount = (point: string) =>
  point.replaceAll(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));

const isBelow = (path: string, dir: string) => path === dir || path.startsWith(`${dir}/`);

/** Whether a process has its root or working directory there: a killed agent may have left it outside of a sandbox. */
async function worksBelow(dir: string, pid: number): Promise<boolean> {
  const dirs = await Promise.all(["root", "cwd"].map((link) => readlink(`/proc/${pid}/${link}`).catch(() => "")));
  return pid !== process.pid && dirs.some((each) => isBelow(each, dir));
}

const LoopDevices = z.object({
  loopdevices: z.array(z.object({ name: z.string(), "back-file": z.string().nullable() })),
});

async function loopsBelow(dir: string): Promise<string[]> {
  const listed = await tool("losetup", ["--list", "--json", "--output", "NAME,BACK-FILE"]);
  if (listed.trim() === "") return []; // losetup prints nothing if there is none
  const { loopdevices } = LoopDevices.parse(JSON.parse(listed));
  return loopdevices.filter((each) => isBelow(each["back-file"] ?? "", dir)).map((each) => each.name);
}

/** The kernel detaches a device in use at its last close. Waits up to 5 s for that. */
async function detach(device: string): Promise<void> {
  await tool("partx", ["--delete", device]).catch(() => {});
  await tool("losetup", ["--detach", device]);
  for (let waitedMs = 0; waitedMs < 5_000; waitedMs += 100) {
    if (!(await isAttached(device))) return;
    await sleep(100);
  }
  throw new Error(`${device} is still in use`);
}

const isAttached = async (device: string) => (await tool("losetup", [device]).catch(() => "")) !== "";

/**
 * Partitions of a loop device outlive it when KIWI is killed between `losetup -d` and `partx --delete`, and the next
 * build that gets the device fails with "error adding partition". They can be deleted only while a file is attached.
 */
async function clearStalePartitions(): Promise<void> {
  for (const name of (await readdir("/sys/block")).filter((each) => /^loop\d+$/.test(each))) {
    const entries = await readdir(join("/sys/block", name)).catch((): string[] => []);
    const isStale = entries.some((entry) => entry.startsWith(`${name}p`)) && !entries.includes("loop");
    if (!isStale) continue;
    await tool("losetup", [`/dev/${name}`, process.execPath, "--read-only"]);
    await tool("partx", ["--delete", `/dev/${name}`]).catch(() => {});
    await tool("losetup", ["--detach", `/dev/${name}`]);
  }
}

const tool = (command: string, args: string[]) => outputOf(command, args, AbortSignal.timeout(10_000));

const complain = (log: Log) => (error: unknown) => log("cleaning up failed", { reason: sentenceOf(error) });
