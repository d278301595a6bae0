import { makeOnce } from "#domain/accounts/idempotency";
import { limitsOf, type LimitsEnv, refuseOverLimit } from "#domain/accounts/limits";
import { quotaBytes, quotaExceeded } from "#domain/accounts/quota";
import { parseArch, traitsOfClone } from "#domain/appliances/appliance";
import { withEstimate } from "#domain/appliances/estimate";
import { sealedAnew } from "#domain/configuration/secrets";
import { changesBetween, passwordChanges, type DefinitionChange } from "#domain/definitions/changes";
import {
  definitionOf,
  readContents,
  type Contents,
  type Definition,
  type WantedDefinition,
} from "#domain/definitions/definition";
import { wantedContents } from "#domain/definitions/wanted";
import type { Place } from "#domain/place";
import { changedMeanwhile, Refusal } from "#domain/refusal";
import type { SealingKey } from "#domain/secrets";
import { effectBetween, type SoftwareEffect } from "#domain/software/effect";
import type { ApplianceSoftware } from "#domain/software/resolution-request";
import { storedBytesOf } from "#model/configuration";
import type { Account } from "#storage/accounts";
import {
  findAnyAppliance,
  findAppliance,
  findApplianceByUuid,
  findBaseSystem,
  type Appliance,
} from "#storage/appliances";
import { addDefinition, saveDefinition, type DefinitionLimits, type DefinitionRows } from "#storage/definitions";
import { listTemplateSets } from "#storage/template-sets";

type ApplyEnv = SealingKey & LimitsEnv & Pick<Env, "BLOBS" | "ACCOUNT_QUOTA_GB">;

/** Who wants what, of which appliance. */
export interface DefinitionRequest {
  account: Account;
  wanted: WantedDefinition;
  /** Addresses of the service begin with this. */
  baseUrl: string;
}

export interface NewRequest extends DefinitionRequest {
  /** Of a request that may come again. */
  requestId?: string | undefined;
}

interface Plan {
  before: Contents;
  after: Contents;
  changes: DefinitionChange[];
}

export async function getDefinition(
  { db }: Place<unknown>,
  appliance: Appliance,
  baseUrl: string,
): Promise<Definition> {
  return definitionOf(appliance, await readContents(db, appliance), baseUrl);
}

/** What a definition would change, and do to the image. */
export interface ShownPlan {
  changes: DefinitionChange[];
  software: SoftwareEffect;
}

/** What `applyDefinition` would change. What is not resolved when the signal comes never is. */
export async function planDefinition(
  { env, db }: Place<ApplyEnv>,
  appliance: Appliance,
  request: DefinitionRequest & { signal: AbortSignal },
): Promise<ShownPlan> {
  const { before, after, changes } = await planOf({ env, db }, appliance, request);
  const base = await findBaseSystem(db, appliance.baseSystem);
  const softwareOf = ({ identity, repositories, selection }: Contents): ApplianceSoftware => ({
    arch: appliance.arch,
    imageType: identity.imageType,
    baseSystem: base?.facts,
    repositories,
    selection,
  });
  const both = { software: softwareOf(before), wanted: softwareOf(after) };
  return { changes, software: await effectBetween({ env, db }, both, request.signal) };
}

/** Makes an appliance what the definition says, all of it or nothing. What the definition omits stays. */
export async function applyDefinition(
  { env, db }: Place<ApplyEnv>,
  appliance: Appliance,
  request: DefinitionRequest & { precondition?: ((before: Definition) => void) | undefined },
): Promise<Definition> {
  const { account, baseUrl } = request;
  const plan = await planOf({ env, db }, appliance, request);
  request.precondition?.(definitionOf(appliance, plan.before, baseUrl));
  if (plan.changes.length === 0) return definitionOf(appliance, plan.before, baseUrl);
  const limits = await limitsFor({ env, db }, account.id);
  const saved = await saveDefinition(db, appliance, rowsOf(plan), limits);
  if (!saved) throw await whyRefused({ env, db }, appliance);
  await withEstimate({ env, db }, saved);
  return await getDefinition({ env, db }, saved, baseUrl);
}

/** What `createFromDefinition` would make of the template. */
export async function planNewDefinition(
  place: Place<ApplyEnv>,
  request: NewRequest & { signal: AbortSignal },
): Promise<ShownPlan> {
  return await planDefinition(place, await startOf(place, request), request);
}

/** Makes an appliance of a definition: a clone of the first template of its base system, with all that the definition says. */
export async function createFromDefinition({ env, db }: Place<ApplyEnv>, request: NewRequest): Promise<Definition> {
  const made = await makeOnce(request.requestId, {
    find: (requestId) => findApplianceByUuid(db, requestId),
    make: () => makeFrom({ env, db }, request),
  });
  return await getDefinition({ env, db }, made, request.baseUrl);
}

async function makeFrom({ env, db }: Place<ApplyEnv>, request: NewRequest): Promise<Appliance> {
  const start = await startOf({ env, db }, request);
  const { after } = await planOf({ env, db }, start, request);
  const limits = await limitsFor({ env, db }, request.account.id);
  const { columns, ...rows } = allRowsOf(after);
  const configuration = await sealedAnew(env, columns.configuration);
  const { id: _templateId, ...row } = start;
  const added = await addDefinition(db, row, { columns: { ...columns, configuration }, ...rows }, limits);
  if (added) return await withEstimate({ env, db }, added);
  await refuseOverLimit({ env, db }, request.account.id, {
    appliances: 1,
    configurationBytes: storedBytesOf(configuration),
  });
  throw quotaExceeded();
}

/** The new appliance before the definition changes anything. It has the id of its template, whose contents it has. */
async function startOf({ db }: Place<unknown>, { account, wanted, requestId }: NewRequest): Promise<Appliance> {
  const base = wanted.baseSystem;
  const known = (await listTemplateSets(db)).flatMap(({ templates }) => templates);
  const first = known.find(({ baseSystem }) => baseSystem === base);
  const template = first && (await findAnyAppliance(db, first.applianceId));
  if (!template) {
    const bases = [...new Set(known.map(({ baseSystem }) => baseSystem))].join(", ");
    throw new Refusal("invalid_base_system", { message: `base_system is one of ${bases}.` });
  }
  const { name, arch } = wanted;
  const traits = await traitsOfClone(db, account, {
    source: template,
    request: { name, arch: parseArch(arch), requestId },
  });
  return { ...template, ...traits };
}

async function planOf(
  place: Place<SealingKey>,
  appliance: Appliance,
  { account, wanted, baseUrl }: DefinitionRequest,
): Promise<Plan> {
  const before = await readContents(place.db, appliance);
  const after = await wantedContents(place, { account, appliance, baseUrl }, { before, wanted });
  const shown = (contents: Contents) => definitionOf(appliance, contents, baseUrl);
  const changes = [
    ...changesBetween(shown(before), shown(after)),
    ...passwordChanges(before.configuration, after.configuration),
  ];
  return { before, after, changes };
}

/** All rows of an appliance. */
function allRowsOf({ identity, configuration, repositories, selection, files, keys }: Contents) {
  const { name, version, imageType } = identity;
  const repositoryIds = repositories.map(({ id }) => id);
  return { columns: { name, version, imageType, configuration }, repositoryIds, selection, files, keys };
}

/** Those that differ. A list that is the same stays, so that its entries keep their ids. */
function rowsOf({ before, after }: Plan): DefinitionRows {
  const [was, { columns, ...is }] = [allRowsOf(before), allRowsOf(after)];
  const differs = (name: keyof typeof is) => JSON.stringify(was[name]) !== JSON.stringify(is[name]);
  return {
    columns,
    ...(differs("repositoryIds") && { repositoryIds: is.repositoryIds }),
    ...(differs("selection") && { selection: is.selection }),
    ...(differs("files") && { files: is.files }),
    ...(differs("keys") && { keys: is.keys }),
  };
}

async function limitsFor(place: Place<ApplyEnv>, accountId: number): Promise<DefinitionLimits> {
  const { appliances, configurationBytes } = limitsOf(place.env);
  return { quotaBytes: await quotaBytes(place, accountId), appliances, configurationBytes };
}

async function whyRefused({ env, db }: Place<ApplyEnv>, read: Appliance): Promise<Refusal> {
  const now = read.accountId === null ? undefined : await findAppliance(db, read.accountId, read.id);
  if (!now) return new Refusal("invalid_appliance_id", { reason: "unknown" });
  if (now.lastEditedAt.getTime() !== read.lastEditedAt.getTime()) return changedMeanwhile();
  await refuseOverLimit({ env, db }, now.accountId ?? 0, { configurationBytes: 1 });
  return quotaExceeded();
}
