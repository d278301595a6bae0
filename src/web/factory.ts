import { createFactory } from "hono/factory";
import type { ApiEnv } from "#api/factory";
import type { Account } from "#storage/accounts";
import type { Appliance } from "#storage/appliances";
import type { Session } from "#storage/sessions";
import type { ReadOnlyMode } from "#domain/service-settings";
import type { Given } from "./given.ts";

/** The person who is signed in with the browser, and the form token of the session. */
export interface Person {
  account: Account;
  session: Session;
  formToken: string;
  /** The appliance in the address, if it is the person's own and was read with the session. */
  appliance: Appliance | null;
}

/**
 * The context of the pages. It has an account after a sign-in, and a session with its form token after `withSession`.
 */
export type WebEnv = {
  Bindings: Env;
  Variables: ApiEnv["Variables"] & {
    session: Session;
    formToken: string;
    /** The appliance in the address, on an appliance's pages (`pages/appliance/with-appliance.ts`). */
    appliance: Appliance;
    /** Looked up once by `personOf`. Null if no one is signed in. */
    person?: Person | null;
    /** Read once by `readOnlyOf`. */
    readOnly?: Promise<ReadOnlyMode>;
    /** The form that was refused: `page` shows it again, with its values and what is wrong with them. */
    given?: Given;
  };
};

export const factory = createFactory<WebEnv>();
