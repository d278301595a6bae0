import { limitsOf, refuseOverLimit } from "#domain/accounts/limits";
import type { Services } from "#domain/services";
import { quotaBytes, quotaExceeded } from "#domain/accounts/quota";
import { Refusal } from "#domain/refusal";
import { packageTypeOf } from "#domain/rpms/headers";
import type { StagedUpload } from "#domain/rpms/staging";
import { publishUploads } from "#domain/repositories/user-repository";
import { packageTypeOfBase } from "#model/catalogue";
import type { Account } from "#storage/accounts";
import { findBaseSystem } from "#storage/appliances";
import type { Database } from "#storage/db";
import {
  addRpm,
  deleteRpm,
  findRpm,
  findRpmOfRequest,
  listRpms,
  replaceRpm,
  type NewRpm,
  type Rpm,
} from "#storage/rpms";

/** An account's uploads for a base system. */
export interface Uploads {
  baseSystem: string;
  uploads: Rpm[];
}

export async function listUploads(db: Database, accountId: number, baseSystem: string): Promise<Uploads> {
  await checkBaseSystem(db, baseSystem);
  return { baseSystem, uploads: await listRpms(db, accountId, baseSystem) };
}

/** An upload of this account. Any other upload is reported as unknown. */
export async function getUpload(db: Database, accountId: number, id: number): Promise<Rpm> {
  const rpm = await findRpm(db, accountId, id);
  if (!rpm) throw new Refusal("invalid_rpm_id", { reason: "unknown" });
  return rpm;
}

/** Refuses an unknown base system. Packages can be uploaded only for a base system that has templates. */
export async function checkBaseSystem(db: Database, name: string): Promise<void> {
  if (!(await findBaseSystem(db, name))) throw new Refusal("invalid_base_system");
}

interface Owner {
  account: Account;
  baseSystem: string;
  /** The id of a request that may be repeated. */
  requestId?: string | undefined;
}

/**
 * Adds a staged upload to the account's user repository. If the account already has a package of the same name, version
 * and architecture, the new one replaces it and keeps its id, because clients want the latest build of a package. The
 * blobs of the old one stay for an hour, and as long as a build needs them.
 */
export async function addUpload({ env, db }: Services, owner: Owner, staged: StagedUpload): Promise<Rpm> {
  await refuseOtherType(db, owner.baseSystem, staged);
  const limits = { quotaBytes: await quotaBytes({ env, db }, owner.account.id), most: limitsOf(env).uploadedPackages };
  const rpm = await addRpm(db, rowOf(owner, staged), limits);
  if (!rpm) {
    await refuseOverLimit({ env, db }, owner.account.id, { uploadedPackages: 1 });
    throw quotaExceeded();
  }
  await publishUploads({ env, db }, owner);
  return rpm;
}

/** Finds the upload that an interrupted request has added, and publishes it, too. */
export async function findUpload(
  { env, db }: Services,
  { account, requestId }: { account: Account; requestId: string },
): Promise<Rpm | undefined> {
  const rpm = await findRpmOfRequest(db, requestId);
  if (rpm) await publishUploads({ env, db }, { account, baseSystem: rpm.baseSystem });
  return rpm;
}

export async function replaceUpload(
  { env, db }: Services,
  { account, id, baseSystem }: Owner & { id: number },
  staged: StagedUpload,
): Promise<Rpm> {
  const owner = { account, baseSystem };
  await refuseOtherType(db, baseSystem, staged);
  const quota = await quotaBytes({ env, db }, account.id);
  const rpm = await replaceRpm(db, id, rowOf(owner, staged), quota);
  if (!rpm) {
    await getUpload(db, account.id, id); // or the upload was deleted in the meantime
    throw quotaExceeded();
  }
  await publishUploads({ env, db }, owner);
  return rpm;
}

/** Removes an upload and its packages from the user repository, which stays even if it is empty. */
export async function deleteUpload({ env, db }: Services, account: Account, id: number): Promise<void> {
  const gone = await deleteRpm(db, account.id, id);
  if (!gone) throw new Refusal("invalid_rpm_id", { reason: "unknown" });
  await publishUploads({ env, db }, { account, baseSystem: gone.baseSystem });
}

/**
 * Refuses an upload without packages of the base system's type. A tarball may also contain packages of the other type,
 * which do no harm, like any other files in it.
 */
async function refuseOtherType(db: Database, baseSystem: string, { packages }: StagedUpload): Promise<void> {
  const facts = (await findBaseSystem(db, baseSystem))?.facts;
  if (!facts) return;
  const wanted = packageTypeOfBase(facts);
  if (packages.some((one) => packageTypeOf(one) === wanted)) return;
  const [given, needed] = wanted === "deb" ? ["an RPM", "Debian packages (.deb)"] : ["a Debian package", "RPMs"];
  throw new Refusal("invalid_file", {
    message: `This is ${given}, but ${facts.title} needs ${needed}. Upload a package of that type, or pass another base_system.`,
  });
}

const rowOf = ({ account, baseSystem, requestId }: Owner, staged: StagedUpload): NewRpm => ({
  ...staged,
  accountId: account.id,
  baseSystem,
  uploadedAt: new Date(),
  ...(requestId && { requestId }),
});
