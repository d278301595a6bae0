import { Refusal } from "#domain/refusal";
import type { Scope } from "#model/scope";
import { findApplianceIdOf, type PartOfAppliance } from "#storage/appliance-parts";
import type { Database } from "#storage/db";

/** What a call needs: a scope, or the account's own key because the call is about the account itself. */
export type Needed = Scope | "key";

/** What a token may do. `applianceId` null: with all appliances of its account. */
export interface TokenAccess {
  by: "token";
  id: number;
  scope: Scope;
  applianceId: number | null;
  /** Null: never. */
  expiresAt: Date | null;
}

/** How a request has signed in, and so what it may do. The account's key may do everything. */
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

/** Something that a request names by its id, as the request has written it. */
export interface Named {
  what: "appliance" | PartOfAppliance;
  id: string;
}

/** A token for one appliance reaches what belongs to that appliance. What does not exist is refused in the same way. */
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

/** Refuses what a token for one appliance would make in another appliance, or (null) in none. */
export function refuseMakingIn(access: Access, applianceId: number | null): void {
  const only = onlyAppliance(access);
  if (only !== null && only !== applianceId) throw otherAppliance(only);
}

/** The one appliance that lists show with this access; null: all of the account's. */
export const onlyAppliance = (access: Access): number | null => (access.by === "key" ? null : access.applianceId);

const otherAppliance = (only: number) =>
  denied(`This token is only for appliance ${only}: name that appliance, or something that belongs to it.`);

const denied = (message: string) => new Refusal("access_denied", { message });
