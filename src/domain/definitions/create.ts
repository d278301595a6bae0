import { makeOnce } from "#domain/accounts/idempotency";
import { refuseOverLimit } from "#domain/accounts/limits";
import { quotaExceeded } from "#domain/accounts/quota";
import { defaultArch, parseArch, traitsOfClone } from "#domain/appliances/appliance";
import { withEstimate } from "#domain/appliances/estimate";
import { encryptedIfClear } from "#domain/configuration/secrets";
import { getDefinition, limitsFor } from "#domain/definitions/apply";
import type { Definition } from "#domain/definitions/definition";
import {
  allRowsOf,
  planDefinition,
  planOf,
  type ApplyEnv,
  type DefinitionRequest,
  type Plan,
  type ShownPlan,
} from "#domain/definitions/plan";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { storedBytesOf } from "#lib/configuration/stored";
import { findAnyAppliance, findApplianceByUuid, type Appliance } from "#storage/appliances";
import { addDefinition, hasApplianceNamed } from "#storage/definitions";
import { findSchematic } from "#storage/schematics";
import { listTemplateSets } from "#storage/template-sets";

export interface NewRequest extends DefinitionRequest {
  /** The id of a request that may be repeated. */
  requestId?: string | undefined;
  /** Whether to refuse the request if the account already has an appliance of that name. */
  isNameNew?: boolean;
}

/** Shows what `createFromDefinition` would change in the template. */
export async function planNewDefinition(
  services: Services<ApplyEnv>,
  request: NewRequest & { signal: AbortSignal },
): Promise<ShownPlan> {
  return await planDefinition(services, await startOf(services, request), request);
}

/** Creates an appliance from a definition: clones the first template of its base system, and applies the definition. */
export async function createFromDefinition({ env, db }: Services<ApplyEnv>, request: NewRequest): Promise<Definition> {
  const made = await makeOnce(request.requestId, {
    find: (requestId) => findApplianceByUuid(db, requestId),
    make: () => makeFrom({ env, db }, request),
  });
  return await getDefinition({ env, db }, made, request.baseUrl);
}

async function makeFrom(services: Services<ApplyEnv>, request: NewRequest): Promise<Appliance> {
  return await addPlanned(services, request, await planNew(services, request));
}

/** A new appliance that is not stored yet. */
export interface PlannedAppliance extends Plan {
  start: Appliance;
}

export async function planNew(services: Services<ApplyEnv>, request: NewRequest): Promise<PlannedAppliance> {
  const start = await startOf(services, request);
  return { start, ...(await planOf(services, start, request)) };
}

/** Stores a planned appliance. `schematic` is the account's schematic that the appliance is made from. */
export async function addPlanned(
  { env, db }: Services<ApplyEnv>,
  request: NewRequest & { schematic?: string },
  { start, after }: PlannedAppliance,
): Promise<Appliance> {
  const limits = await limitsFor({ env, db }, request.account.id);
  const { columns, ...rows } = allRowsOf(after);
  const configuration = await encryptedIfClear(env, columns.configuration);
  const { id: _templateId, ...row } = start;
  const unique = {
    ...(request.isNameNew === true && { name: columns.name }),
    ...(request.schematic !== undefined && { schematic: request.schematic }),
  };
  const added = await addDefinition(
    db,
    row,
    { columns: { ...columns, configuration }, ...rows },
    { ...limits, ...unique },
  );
  if (added) return await withEstimate({ env, db }, added);
  const same =
    request.schematic === undefined ? undefined : await findSchematic(db, request.account.id, request.schematic);
  if (same) return same;
  if (request.isNameNew === true && (await hasApplianceNamed(db, request.account.id, columns.name)))
    throw new Refusal("unknown_error", {
      reason: "changed",
      message: `You already have an appliance called ${columns.name}.`,
    });
  await refuseOverLimit({ env, db }, request.account.id, {
    appliances: 1,
    configurationBytes: storedBytesOf(configuration),
    files: rows.files.length,
  });
  throw quotaExceeded();
}

/** The new appliance before the definition changes anything. It has the id and the contents of its template. */
async function startOf({ db }: Services<unknown>, { account, wanted, requestId }: NewRequest): Promise<Appliance> {
  const base = wanted.baseSystem;
  const known = (await listTemplateSets(db)).flatMap(({ templates }) => templates);
  const first = known.find(({ baseSystem }) => baseSystem === base);
  const template = first && (await findAnyAppliance(db, first.applianceId));
  if (!template) {
    const bases = [...new Set(known.map(({ baseSystem }) => baseSystem))].join(", ");
    throw new Refusal("invalid_base_system", { message: `base_system must be one of ${bases}.` });
  }
  const { name } = wanted;
  const arch = parseArch(wanted.arch) ?? (await defaultArch(db, template, usualArch));
  const traits = await traitsOfClone(db, account, { source: template, request: { name, arch, requestId } });
  return { ...template, ...traits };
}

/**
 * Clients of 2010 send no definitions, so the old default is not needed. `kiln clone` and the pages prefer the same
 * architecture.
 */
const usualArch = "x86_64";
