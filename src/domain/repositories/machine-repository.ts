import { baseUrlOf } from "#domain/base-url";
import { derivedBytes, keyedHash, keysIn, sameSecret, type EncryptionKey } from "#domain/secrets";
import type { Services } from "#domain/services";
import { uploadedPackageKey, uploadedPackageIn } from "#domain/repositories/user-repository";
import { configurationOf } from "#lib/configuration/stored";
import type { MachineRepository } from "#lib/kiwi/facts";
import { openRepositoryKey, type RepositoryKey } from "#lib/repodata/repository-key";
import { findAnyAppliance, type Appliance } from "#storage/appliances";
import { userRepositoryFileKey } from "#storage/blobs";
import { findUserRepository, type Repository } from "#storage/repositories";
import { isUploadOf } from "#storage/rpms";
import { userIndexPath } from "#storage/user-repositories";

/*
 * Machines read a user repository at an unguessable address, which is stored in their image. Address and signing key
 * are derived from a key of the service and the appliance, so nothing is stored for them (decision 12).
 */

type Owned = Pick<Appliance, "id" | "uuid" | "accountId" | "baseSystem" | "configuration">;

/** Whether the owner of an appliance lets its machines read the user repository. */
const isOpen = (appliance: Pick<Appliance, "configuration">) => configurationOf(appliance).settings.updateUploads;

/** Whether an appliance uses packages from its owner's uploads. */
export const hasUserRepository = (
  { accountId }: Pick<Appliance, "accountId">,
  repositories: readonly Pick<Repository, "isUserRepository" | "accountId">[],
): boolean => repositories.some((one) => one.isUserRepository && one.accountId === accountId);

/**
 * The user repository for the image of an appliance. Undefined if the appliance does not use it, or if machines may not
 * read it.
 */
export async function machineRepositoryOf(
  env: EncryptionKey & Pick<Env, "BASE_URL">,
  appliance: Owned,
  repositories: readonly Repository[],
): Promise<MachineRepository | undefined> {
  if (!isOpen(appliance) || !hasUserRepository(appliance, repositories) || env.BASE_URL === "") return undefined;
  const [key = ""] = keysIn(env.API_KEY_ENCRYPTION_KEY);
  const { fingerprint, armour } = await signingKeyOf(key, appliance);
  const url = `${baseUrlOf(env)}/machines/${addressOf(key, appliance)}`;
  return { url, fingerprint, armour };
}

const addressOf = (key: string, { id, uuid }: Owned): string =>
  `${id}-${keyedHash(key, `address of machine repository ${uuid}`).slice(0, 48)}`;

const signingKeyOf = (key: string, { uuid }: Owned): Promise<RepositoryKey> =>
  openRepositoryKey(derivedBytes(key, `signature of machine repository ${uuid}`));

/** A file of a user repository. It is either stored, or signed when it is read. */
export type MachineFile = { key: string } | { text: string };

/** Undefined if there is no such address or file, or if the owner has closed the repository. */
export async function findMachineFile(
  { env, db }: Services<EncryptionKey & Pick<Env, "BLOBS">>,
  address: string,
  path: string,
): Promise<MachineFile | undefined> {
  const found = await openAddress({ env, db }, address);
  if (!found) return undefined;
  const { repository, key, appliance } = found;
  const index = userIndexPath(repository.type);
  if (path === (repository.type === "deb" ? "InRelease" : `${index}.asc`)) {
    const signed = await env.BLOBS.get(userRepositoryFileKey(repository.uid, index));
    if (!signed) return undefined;
    const { signAround, signBeside } = await signingKeyOf(key, appliance);
    const { uploaded } = signed;
    if (repository.type === "deb") return { text: await signAround(await signed.text(), uploaded) };
    return { text: await signBeside(new Uint8Array(await signed.arrayBuffer()), uploaded) };
  }
  if (isIndexFile.test(path)) return { key: userRepositoryFileKey(repository.uid, path) };
  const uploaded = uploadedPackageIn(path);
  if (!uploaded || !(await isUploadOf(db, repository, uploaded.blobId))) return undefined;
  const blob = await uploadedPackageKey(env, uploaded);
  return blob === undefined ? undefined : { key: blob };
}

const isIndexFile = /^(?:by-hash\/SHA256\/[0-9a-f]{64}|repodata\/[\w-][\w.-]*)$/;

/**
 * Also opens an address that was derived from an older key of the service, because the machines that know it cannot get
 * another one.
 */
async function openAddress({ env, db }: Services<EncryptionKey>, address: string) {
  const [, id] = /^([1-9]\d{0,14})-[0-9a-f]{48}$/.exec(address) ?? [];
  const appliance = id === undefined ? undefined : await findAnyAppliance(db, Number(id));
  if (!appliance || appliance.accountId === null || !isOpen(appliance)) return undefined;
  const key = keysIn(env.API_KEY_ENCRYPTION_KEY).find((one) => sameSecret(addressOf(one, appliance), address));
  if (key === undefined) return undefined;
  const repository = await findUserRepository(db, appliance.accountId, appliance.baseSystem);
  return repository && { repository, key, appliance };
}
