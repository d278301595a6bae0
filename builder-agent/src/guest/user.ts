import { stat } from "node:fs/promises";
import type { Accel } from "../sandbox.ts";
import { holdName } from "../lock.ts";
import { firstSessionUid, hasManyUsers, nobody } from "../testdrive/rights.ts";

/** This range comes after the users of testdrives (testdrive/rights.ts). */
const firstGuestUid = firstSessionUid + 65_536;
const guestUsers = 65_536;

/**
 * The user that runs a build's QEMU and reads its results, if no other guest has it (`reserveUser`). It owns nothing.
 */
export const userOfBuild = (buildId: number): number =>
  hasManyUsers() ? firstGuestUid + (buildId % guestUsers) : nobody;

/** A user that no other guest on this host has, whichever agent runs the guest, until it is disposed of. */
export interface ReservedUser extends AsyncDisposable {
  uid: number;
}

/**
 * Agents of different services each count builds from 1, so the build's own user may be taken already. Then the next
 * free one is used.
 */
export async function reserveUser(buildId: number): Promise<ReservedUser> {
  const first = userOfBuild(buildId);
  if (first < firstGuestUid) return { uid: first, async [Symbol.asyncDispose]() {} };
  for (let tried = 0; tried < guestUsers; tried++) {
    const uid = firstGuestUid + ((first - firstGuestUid + tried) % guestUsers);
    const release = await holdName(`kiln-guest-user-${uid}`);
    if (release) return { uid, [Symbol.asyncDispose]: release };
  }
  throw new Error("no user for a build in a guest is free");
}

/** The groups that such a user needs to open /dev/kvm. Undefined if no group may open it. */
export async function kvmGroups(accel: Accel, device = "/dev/kvm"): Promise<number[] | undefined> {
  if (accel === "tcg") return [];
  const { mode, gid } = await stat(device);
  if ((mode & 0o006) === 0o006) return [];
  return (mode & 0o060) === 0o060 ? [gid] : undefined;
}
