import { stat } from "node:fs/promises";
import type { Accel } from "../testdrive/accel.ts";
import { firstSessionUid, hasManyUsers, nobody } from "../testdrive/rights.ts";

/** After the users of testdrives (testdrive/rights.ts). */
export const firstGuestUid = firstSessionUid + 65_536;
export const guestUsers = 65_536;

/** The user that is to run a build's QEMU and read its results, if no other guest has it (reserved-user.ts). It owns nothing. */
export const userOfBuild = (buildId: number): number =>
  hasManyUsers() ? firstGuestUid + (buildId % guestUsers) : nobody;

/** The groups that such a user needs to open /dev/kvm; undefined: no group would let it. */
export async function kvmGroups(accel: Accel, device = "/dev/kvm"): Promise<number[] | undefined> {
  if (accel === "tcg") return [];
  const { mode, gid } = await stat(device);
  if ((mode & 0o006) === 0o006) return [];
  return (mode & 0o060) === 0o060 ? [gid] : undefined;
}
