import { getAppliance, getOwnAppliance } from "#domain/appliances/appliance";
import type { Caller } from "#api/call";

const ids = { appliance_id: "invalid_appliance_id" } as const;

/** For calls on an appliance that the account may read: its own, one shared with it, or a template. */
export const ofReadable = {
  access: "readable",
  ids,
  finds: ({ db, account }: Caller, id: number) => getAppliance(db, account.id, id),
} as const;

/** For calls on an appliance that the account may change. */
export const ofOwn = {
  access: "own",
  ids,
  finds: ({ db, account }: Caller, id: number) => getOwnAppliance(db, account.id, id),
} as const;
