import { browser } from "./browser.ts";
import { signedIn } from "./client.ts";
import { createAppliance } from "./factories.ts";

/** An account with an appliance, and the account's browser, which is signed in. */
export async function applianceOwner() {
  const tux = await signedIn();
  const firefox = browser();
  await firefox.beginSession(tux);
  return { tux, firefox, id: await createAppliance(tux) };
}

export type Owner = Awaited<ReturnType<typeof applianceOwner>>;
