import { limitsOf, refuseOverLimit } from "#domain/accounts/limits";
import { quotaBytes, quotaExceeded } from "#domain/accounts/quota";
import { withEstimate } from "#domain/appliances/estimate";
import { definitionOf, readContents, type Definition } from "#domain/definitions/definition";
import { allRowsOf, planOf, type ApplyEnv, type DefinitionRequest, type Plan } from "#domain/definitions/plan";
import type { Services } from "#domain/services";
import { changedMeanwhile, Refusal } from "#domain/refusal";
import { findAppliance, type Appliance } from "#storage/appliances";
import { saveDefinition, type DefinitionLimits, type DefinitionRows } from "#storage/definitions";

export async function getDefinition(
  { db }: Services<unknown>,
  appliance: Appliance,
  baseUrl: string,
): Promise<Definition> {
  return definitionOf(appliance, await readContents(db, appliance), baseUrl);
}

/** Applies a definition to an appliance, atomically. Everything that the definition omits stays unchanged. */
export async function applyDefinition(
  { env, db }: Services<ApplyEnv>,
  appliance: Appliance,
  request: DefinitionRequest & { precondition?: ((before: Definition) => void) | undefined },
): Promise<Definition> {
  const { account, baseUrl } = request;
  const plan = await planOf({ env, db }, appliance, request);
  request.precondition?.(definitionOf(appliance, plan.before, baseUrl));
  if (plan.changes.length === 0) return definitionOf(appliance, plan.before, baseUrl);
  const limits = await limitsFor({ env, db }, account.id);
  const saved = await saveDefinition(db, appliance, rowsOf(plan), limits);
  if (!saved) throw await whyRefused({ env, db }, appliance, plan);
  await withEstimate({ env, db }, saved);
  return await getDefinition({ env, db }, saved, baseUrl);
}

/** The rows that differ. A list that is equal stays, so that its entries keep their ids. */
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

async function whyRefused({ env, db }: Services<ApplyEnv>, read: Appliance, { before, after }: Plan): Promise<Refusal> {
  const now = read.accountId === null ? undefined : await findAppliance(db, read.accountId, read.id);
  if (!now) return new Refusal("invalid_appliance_id", { reason: "unknown" });
  if (now.lastEditedAt.getTime() !== read.lastEditedAt.getTime()) return changedMeanwhile();
  await refuseOverLimit({ env, db }, now.accountId ?? 0, {
    configurationBytes: 1,
    files: after.files.length - before.files.length,
  });
  return quotaExceeded();
}

/** The account's limits for everything that a definition adds. */
export async function limitsFor(services: Services<ApplyEnv>, accountId: number): Promise<DefinitionLimits> {
  const { appliances, configurationBytes, files } = limitsOf(services.env);
  return { quotaBytes: await quotaBytes(services, accountId), appliances, configurationBytes, files };
}
