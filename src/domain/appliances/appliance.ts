import { architectures, archNames, arches, type Arch } from "#lib/contract/index";
import { makeOnce } from "#domain/accounts/idempotency";
import { limitReached, limitsOf, type LimitsEnv, refuseOverLimit } from "#domain/accounts/limits";
import { forOtherAccount, encryptedIfClear } from "#domain/configuration/secrets";
import type { EncryptionKey } from "#domain/secrets";
import { configurationForClone, noteUse } from "#domain/gallery/clone";
import type { Services } from "#domain/services";
import { Refusal, type IdReason } from "#domain/refusal";
import { configurationOf, type Configuration, storedBytesOf } from "#lib/configuration/stored";
import type { Account } from "#storage/accounts";
import {
  findAppliance,
  findApplianceByUuid,
  findBaseSystem,
  findReadableAppliance,
  saveClone,
  type Appliance,
} from "#storage/appliances";
import { firstVersion } from "#storage/catalogues";
import { findTemplateConfiguration } from "#storage/configurations";
import type { Database } from "#storage/db";
import { savePublishedClone } from "#storage/gallery-clones";
import { findPublication } from "#storage/publications";
import { listByCatalogue } from "#storage/repositories";

interface CloneRequest {
  cloneFrom: number;
  name?: string | undefined;
  /** Undefined for the default: i686 if the base system has it (`defaultArch`). */
  arch: Arch | undefined;
  /** The id of a request that may be repeated. */
  requestId?: string | undefined;
}

/**
 * An appliance that this account may read: its own, one shared with it, or a template. Any other appliance is reported
 * as unknown.
 */
export async function getAppliance(
  db: Database,
  accountId: number,
  id: number,
  reason: IdReason = "unknown",
): Promise<Appliance> {
  const appliance = await findReadableAppliance(db, accountId, id);
  if (!appliance) throw new Refusal("invalid_appliance_id", { reason });
  return appliance;
}

/** An appliance that this account may change. Templates and shared appliances can only be read and cloned. */
export async function getOwnAppliance(
  db: Database,
  accountId: number,
  id: number,
  reason: IdReason = "unknown",
): Promise<Appliance> {
  const own = await findAppliance(db, accountId, id);
  if (own) return own;
  const { accountId: owner } = await getAppliance(db, accountId, id, reason);
  const what = owner === null ? "A template" : "An appliance that is shared with you";
  throw new Refusal("access_denied", { message: `${what} cannot be changed. Clone it first.` });
}

/**
 * Copies a template, an appliance, or the published version of another account's appliance, under a new name. The copy
 * starts at the first version, without builds.
 */
export async function cloneAppliance(
  { env, db }: Services<EncryptionKey & LimitsEnv>,
  account: Account,
  request: CloneRequest,
): Promise<Appliance> {
  return await makeOnce(request.requestId, {
    find: (requestId) => findApplianceByUuid(db, requestId),
    make: () => makeClone({ env, db }, account, request),
  });
}

async function makeClone(
  { env, db }: Services<EncryptionKey & LimitsEnv>,
  account: Account,
  request: CloneRequest,
): Promise<Appliance> {
  const source = await findReadableAppliance(db, account.id, request.cloneFrom);
  if (!source) return await clonePublished({ env, db }, account, request);
  const { id, parentId: _parentId, ...copied } = source;
  const configuration = await clonedConfiguration({ env, db }, account, source);
  const clone = { ...copied, configuration, ...(await traitsOfClone(db, account, { source, request })) };
  const saved = await saveClone(db, clone, { sourceId: id, most: limitsOf(env) });
  const refused = { account, configuration, sourceNow: () => findReadableAppliance(db, account.id, id) };
  return saved ?? (await refuseClone({ env, db }, refused));
}

/** Clones the latest published version, as it was when it was published. */
async function clonePublished(
  { env, db }: Services<EncryptionKey & LimitsEnv>,
  account: Account,
  request: CloneRequest,
): Promise<Appliance> {
  const publication = await findPublication(db, request.cloneFrom);
  if (!publication) throw new Refusal("invalid_appliance_id");
  if (!publication.publicClonable)
    throw new Refusal("access_denied", { message: "The publisher does not allow cloning." });
  const { baseSystem, imageType, logoBlob, backgroundBlob, definition, applianceId: id, name } = publication;
  const { estimatedRawMb, estimatedCompressedMb } = definition;
  const configuration = await configurationForClone({ env, db }, publication);
  const copied = { baseSystem, imageType, logoBlob, backgroundBlob, estimatedRawMb, estimatedCompressedMb };
  const clone = {
    ...copied,
    configuration,
    ...(await traitsOfClone(db, account, { source: { id, name, baseSystem }, request })),
  };
  const limits = { publicationId: publication.id, most: limitsOf(env) };
  const saved = await savePublishedClone(db, clone, limits);
  const refused = { account, configuration, sourceNow: () => findPublication(db, request.cloneFrom) };
  if (!saved) return await refuseClone({ env, db }, refused);
  await noteUse(db, account, publication, "clone");
  return saved;
}

/**
 * Throws the refusal for the actual reason: a limit of the account was reached, or the source was deleted in the
 * meantime.
 */
async function refuseClone(
  services: Services<LimitsEnv>,
  refused: { account: Account; configuration: Configuration; sourceNow: () => Promise<unknown> },
): Promise<never> {
  const { account, configuration, sourceNow } = refused;
  await refuseOverLimit(services, account.id, { appliances: 1, configurationBytes: storedBytesOf(configuration) });
  if (await sourceNow()) throw limitReached(services.env, "files");
  throw new Refusal("invalid_appliance_id");
}

/** The properties that are new in every clone. */
export async function traitsOfClone(
  db: Database,
  account: Account,
  {
    source,
    request,
  }: { source: Pick<Appliance, "id" | "name" | "baseSystem">; request: Omit<CloneRequest, "cloneFrom"> },
) {
  const { name, arch, requestId } = request;
  const now = new Date();
  return {
    accountId: account.id,
    name: name?.trim() || generatedName(account, source),
    arch: await archOfClone(db, source, arch),
    uuid: requestId ?? crypto.randomUUID(),
    parentId: source.id,
    parentName: source.name,
    version: firstVersion,
    createdAt: now,
    lastEditedAt: now,
  };
}

/** The configuration of a clone. Only the owner gets an appliance's passwords, but every account gets a template's. */
async function clonedConfiguration(
  { env, db }: Services<EncryptionKey>,
  { id: accountId }: Account,
  source: Appliance,
): Promise<Configuration> {
  const stored = configurationOf(source);
  if (source.accountId === null || source.accountId === accountId) return await encryptedIfClear(env, stored);
  return await forOtherAccount(env, stored, await findTemplateConfiguration(db, source.id));
}

/** The limit for a name in a request (api/params, `text`). */
const maxNameLength = 255;

/**
 * `<user>'s <source>`, like the captured appliances (compatibility.md, "Appliances"). If users clone their own clone,
 * their name is not repeated.
 */
function generatedName({ displayName }: Account, source: Pick<Appliance, "name">): string {
  const owner = `${displayName}'s `;
  const name = source.name.startsWith(owner) ? source.name : `${owner}${source.name}`;
  // Half a surrogate pair at the cut is dropped, too. PUT configuration accepts no white space around a line.
  return name
    .slice(0, maxNameLength)
    .replace(/[\uD800-\uDBFF]$/, "")
    .trim();
}

/** The default of `POST /appliances` (compatibility.md, "Architectures and versions"). */
const specifiedArch = "i586";

/**
 * Clients of 2010 know only PCs. If the base system lacks packages for one of these two architectures, the clone is
 * created anyway, and its status has the reason. Any other architecture must be one of the base system's.
 */
const pcs: readonly Arch[] = ["i586", "x86_64"];

async function archOfClone(db: Database, source: Pick<Appliance, "baseSystem">, requested: Arch | undefined) {
  const served = await defaultArch(db, source, requested);
  if (requested === undefined || requested === served) return served;
  if (pcs.includes(requested) && pcs.includes(served)) return requested;
  const title = (await findBaseSystem(db, source.baseSystem))?.facts.title ?? source.baseSystem;
  const { name } = architectures[requested];
  throw new Refusal("invalid_architecture", { message: `${title} has no packages for ${name}.` });
}

/** The preferred architecture, unless the base system only has packages for others. */
export async function defaultArch(
  db: Database,
  { baseSystem }: Pick<Appliance, "baseSystem">,
  preferred: Arch = specifiedArch,
): Promise<Arch> {
  const base = await findBaseSystem(db, baseSystem);
  const offered = base ? (await listByCatalogue(db, base.catalogue)).flatMap((repository) => repository.arches) : [];
  const [first = preferred] = offered;
  return offered.includes(preferred) ? preferred : first;
}

/**
 * The architecture of a clone. `i686` in the request becomes `i586` in all answers (compatibility.md, "Architectures
 * and versions").
 */
export function parseArch(requested: string | undefined): Arch | undefined {
  if (requested === undefined) return undefined;
  const arch = arches.find((one) => requested === one || requested === architectures[one].name);
  if (arch !== undefined) return arch;
  const known = `arch must be one of ${archNames.join(", ")}.`;
  if (/^arm/i.test(requested)) throw new Refusal("invalid_architecture", { message: known });
  throw new Refusal("invalid_value", { message: known });
}
