import { outputOf } from "../process.ts";
import { answerLimitMs, degraded, fine, type Check } from "./check.ts";
import { findTool } from "./packages.ts";

/** How the check examines this host. Tests replace it. */
export interface VolumeQuestions {
  /** The path of lvm2's program. */
  program: () => Promise<string | undefined>;
  /** Whether the kernel's device mapper answers lvm2. */
  answers: () => Promise<boolean>;
}

const host: VolumeQuestions = {
  program: () => findTool({ tool: "lvm" }),
  answers: () =>
    outputOf("dmsetup", ["version"], AbortSignal.timeout(answerLimitMs)).then(
      (said) => /Driver version/.test(said),
      () => false,
    ),
};

const disables = ["LVM disks" as const];
const installation = "apt-get install -y --no-install-recommends lvm2";

/** Whether KIWI can divide a disk into volumes. It needs lvm2 and the device mapper of its kernel. */
export async function checkVolumes(ask: VolumeQuestions = host): Promise<Check> {
  const path = await ask.program();
  if (path === undefined) return withoutLvm2(installation);
  return (await ask.answers()) ? fine("lvm2", path) : withoutMapper("use a kernel that has dm_mod");
}

/**
 * Whether KIWI can divide a disk into volumes in a guest. The guest's root has lvm2 if this host has it, but its kernel
 * differs.
 */
export function judgeVolumesInGuests({ hasLvm2, hasMapper }: { hasLvm2: boolean; hasMapper: boolean }): Check {
  if (!hasLvm2) return withoutLvm2(`${installation}, and start the agent again: its guests get it then`);
  if (hasMapper) return fine("lvm2", "makes volumes in a guest");
  return withoutMapper("use an apt source whose linux-image-cloud-amd64 has dm_mod");
}

const withoutLvm2 = (fix: string) => degraded("lvm2", "no disks with volumes", disables, fix);
const withoutMapper = (fix: string) => degraded("device mapper", "lvm2 cannot reach it", disables, fix);
