import { inject } from "vitest";
import { adminClient } from "../../../scripts/admin/client.ts";
import { readSecrets } from "../../../scripts/launch/secrets.ts";
import type { Ready } from "./service.ts";
import type { ServiceKind, SharedService } from "./shared-services.ts";

/** A service that other test files also use. A test may count only objects of its own account. */
export async function sharedService(kind: ServiceKind): Promise<SharedService> {
  const answer = await fetch(`${inject("sharedServices")}/${kind}`);
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`there is no service ${kind}: ${text}`);
  return JSON.parse(text) as SharedService;
}

type Known = Pick<SharedService, "ready" | "stateDir">;

/** Makes a new, empty account of the service. */
export async function addAccount({ ready, stateDir }: Known, username: string): Promise<Ready> {
  const admin = adminClient(ready.url, readSecrets(stateDir).ADMIN_SECRET ?? "");
  const { apiKey } = await admin.addAccount({ username, email: `${username}@example.org` });
  return { ...ready, username, api_key: apiKey };
}

/** Allows an account to use the operator's pages. */
export async function makeOperator({ ready, stateDir }: Known, username: string): Promise<void> {
  await adminClient(ready.url, readSecrets(stateDir).ADMIN_SECRET ?? "").setOperator(username, { operator: true });
}
