import { adminClient, type AdminClient } from "../../scripts/admin/client.ts";
import { readSecrets } from "../../scripts/launch/secrets.ts";
import type { Ready, Service } from "../../test/acceptance/support/service.ts";
import type { Figure } from "../figure.ts";
import type { Place } from "../place.ts";

/** A load by one account, or by the service itself, while another account is served. */
export interface Scenario {
  /** `npm run bench -- stall/NAME` runs only this one. */
  name: string;
  /** Completes "a request of another account during …". */
  what: string;
  /**
   * Options of `npm start` that the load needs; the service has no agent and no Debian unless these options add them.
   */
  options?: (place: Place) => Promise<string[]>;
  /** Prepares the load, which is not measured, and returns it. */
  prepare: (stage: Stage) => Promise<Load>;
}

/** Runs until the work is done. Returns the results of its own requests for the table, and its own figures. */
type Load = () => Promise<string | { seen: string; figures: Figure[] }>;

/** A new service, and the account that causes the load. */
export interface Stage {
  place: Place;
  service: Service;
  admin: AdminClient;
  account: Ready;
}

export async function openStage(place: Place, { options }: Scenario): Promise<Stage> {
  const service = await place.start(["--no-agent", ...((await options?.(place)) ?? [])]);
  const admin = adminClient(service.ready().url, readSecrets(service.stateDir).ADMIN_SECRET ?? "");
  return { place, service, admin, account: service.ready() };
}

/** Another account of the stage's service. */
export async function newAccount({ admin, service }: Stage, username: string): Promise<Ready> {
  const { apiKey } = await admin.addAccount({ username, email: `${username}@localhost` });
  return { ...service.ready(), username, api_key: apiKey };
}

export const authorizationOf = ({ username, api_key: apiKey }: Ready): string =>
  `Basic ${Buffer.from(`${username}:${apiKey}`).toString("base64")}`;

/** Counts the answers by status: "7× 200, 1× 429". */
export function counted(statuses: readonly (number | string)[]): string {
  const counts = Map.groupBy(statuses, (status) => status);
  return [...counts].map(([status, all]) => `${all.length}× ${status}`).join(", ");
}
