import { outputOf } from "../process.ts";
import { degraded, fine, type Check } from "./check.ts";
import { findTool } from "./packages.ts";

/** How the check learns about this host; its test has its own answers. */
export interface VolumeQuestions {
  /** Where lvm2's program lies. */
  program: () => Promise<string | undefined>;
  /** Whether lvm2 can speak with the kernel's device mapper. */
  answers: () => Promise<boolean>;
}

const host: VolumeQuestions = {
  program: () => findTool({ tool: "lvm" }),
  answers: () =>
    outputOf("dmsetup", ["version"], AbortSignal.timeout(5_000)).then(
      (said) => /Driver version/.test(said),
      () => false,
    ),
};

const disables = ["LVM disks" as const];

/** The guest's kernel has the device mapper, and its root lvm2 where this host has it; no such image was made there yet. */
export const checkVolumesInGuests = (): Check =>
  degraded(
    "volumes in guests",
    "no disks with volumes: not tried there yet",
    disables,
    'a host with isolation "none", lvm2 and the device mapper makes them',
  );

/** Whether KIWI can divide a disk into volumes: it wants lvm2, and the device mapper of the kernel that it runs on. */
export async function checkVolumes(ask: VolumeQuestions = host): Promise<Check> {
  const name = "lvm2";
  const path = await ask.program();
  if (path === undefined) {
    return degraded(name, "no disks with volumes", disables, "apt-get install -y --no-install-recommends lvm2");
  }
  if (await ask.answers()) return fine(name, path);
  return degraded("device mapper", "lvm2 cannot reach it", disables, "use a kernel that has dm_mod");
}
