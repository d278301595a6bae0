import { stat } from "node:fs/promises";
import type { Accel } from "../testdrive/qemu.ts";
import { firstSessionUid, hasManyUsers, nobody } from "../testdrive/rights.ts";

/** Behind the users of testdrives (testdrive/rights.ts). */
const firstGuestUid = firstSessionUid + 65_536;

/** The user that runs a build's QEMU and reads its results: it owns nothing, and is no other build's user. */
export const userOfBuild = (buildId: number): number => (hasManyUsers() ? firstGuestUid + (buildId % 65_536) : nobody);

/** The groups that such a user needs to open /dev/kvm; undefined: no group would let it. */
export async function kvmGroups(accel: Accel, device = "/dev/kvm"): Promise<number[] | undefined> {
  if (accel === "tcg") return [];
  const { mode, gid } = await stat(device);
  if ((mode & 0o006) === 0o006) return [];
  return (mode & 0o060) === 0o060 ? [gid] : undefined;
}
