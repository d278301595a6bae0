import { Refusal } from "#domain/refusal";
import type { Scope } from "#model/scope";
import { findApplianceIdOf, type PartOfAppliance } from "#storage/appliance-parts";
import type { Database } from "#storage/db";

/** The access that a call needs: a scope, or the account's key if the call is about the account itself. */
export type Needed = Scope | "key";

/** The rights of a token. If `applianceId` is null, they cover all appliances of its account. */
export interface TokenAccess {
  by: "token";
  id: number;
  scope: Scope;
  applianceId: number | null;
  /** Null if the token never expires. */
  expiresAt: Date | null;
}

/** How a request has signed in, which decides what it may do. The account's key may do everything. */
export type Access = { by: "key" } | TokenAccess;

const included: Record<Scope, readonly Needed[]> = {
  read: ["read"],
  build: ["read", "build"],
  publish: ["read", "build", "publish"],
};

export function refuseOutOfScope({ scope }: TokenAccess, needed: Needed): void {
  if (included[scope].includes(needed)) return;
  throw denied(
    needed === "key"
      ? "No token may do this. Sign in with the account's API key."
      : `This needs a token with the scope ${needed}. This token has the scope ${scope}.`,
  );
}

/** An object that a request names by its id. The id is as it appears in the request. */
export interface Named {
  what: "appliance" | PartOfAppliance;
  id: string;
}

/**
 * Stops a token for one appliance from reaching anything that does not belong to that appliance. An object that does
 * not exist is refused in the same way.
 */
export async function refuseOtherAppliances(
  db: Database,
  only: number,
  { named, isForAll }: { named: readonly Named[]; isForAll: boolean },
): Promise<void> {
  if (named.length === 0 && !isForAll) throw otherAppliance(only);
  for (const { what, id } of named) {
    const number = /^[1-9]\d{0,14}$/.test(id) ? Number(id) : 0;
    const applianceId = what === "appliance" ? number : await findApplianceIdOf(db, what, number);
    if (applianceId !== only) throw otherAppliance(only);
  }
}

/** Stops a token for one appliance from creating something in another appliance, or in none (null). */
export function refuseMakingIn(access: Access, applianceId: number | null): void {
  const only = onlyAppliance(access);
  if (only !== null && only !== applianceId) throw otherAppliance(only);
}

/**
 * The only appliance that lists show to a request with this access. Null if they show all appliances of the account.
 */
export const onlyAppliance = (access: Access): number | null => (access.by === "key" ? null : access.applianceId);

const otherAppliance = (only: number) =>
  denied(`This token is only for appliance ${only}: name that appliance, or something that belongs to it.`);

const denied = (message: string) => new Refusal("access_denied", { message });
