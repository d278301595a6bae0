import type { Arch } from "#contract/index";
import { Refusal } from "#domain/refusal";
import type { Account } from "#storage/accounts";
import { findAppliance, findReadableAppliance, saveClone, type Appliance } from "#storage/appliances";
import { firstVersion } from "#storage/catalogues";
import type { Database } from "#storage/db";

type Place = "path" | "parameter";

/** An appliance that this account may read: its own, or a template. A stranger's does not exist. */
export async function getAppliance(db: Database, accountId: number, id: number, place: Place): Promise<Appliance> {
  const appliance = await findReadableAppliance(db, accountId, id);
  if (!appliance) throw new Refusal("invalid_appliance_id", { in: place });
  return appliance;
}

/** One that this account may change; a template is seen by everybody and changed by nobody. */
export async function getOwnAppliance(db: Database, accountId: number, id: number, place: Place): Promise<Appliance> {
  const own = await findAppliance(db, accountId, id);
  if (own) return own;
  await getAppliance(db, accountId, id, place);
  throw new Refusal("access_denied", { message: "A template cannot be changed. Clone it first." });
}

/** Copies a template or an appliance under a name of its own; it starts at the first version, without builds. */
export async function cloneAppliance(
  db: Database,
  account: Account,
  request: { cloneFrom: number; name?: string | undefined; arch: Arch },
): Promise<Appliance> {
  const source = await getAppliance(db, account.id, request.cloneFrom, "parameter");
  const now = new Date();
  const { id, parentId: _parentId, ...copied } = source;
  const clone = {
    ...copied,
    accountId: account.id,
    name: request.name ?? `${account.displayName}'s ${source.name}`,
    arch: request.arch,
    uuid: crypto.randomUUID(),
    parentId: id,
    parentName: source.name,
    version: firstVersion,
    createdAt: now,
    lastEditedAt: now,
  };
  return saveClone(db, clone, id);
}

/** The architecture of a clone: `i686` of the request is `i586` in all answers (wire.md §1.3). */
export function parseArch(requested = "i686"): Arch {
  if (requested === "x86_64") return "x86_64";
  if (requested === "i686" || requested === "i586") return "i586";
  if (/^(arm|aarch64)/i.test(requested)) throw new Refusal("invalid_architecture");
  throw new Refusal("invalid_value", { message: "arch is x86_64 or i686." });
}
