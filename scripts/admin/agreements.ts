import type { AdminClient } from "./client.ts";
import { printTable } from "./table.ts";

/** Prints which accounts accepted which legal agreement, and when. */
export async function listAgreements(admin: AdminClient): Promise<void> {
  const agreements = await admin.agreements();
  printTable([
    ["ACCOUNT", "BASE SYSTEM", "ACCEPTED", "CURRENT", "SHA-256 OF THE TEXT"],
    ...agreements.map(({ username, baseSystem, acceptedAt, current, textSha256 }) => [
      username,
      baseSystem,
      acceptedAt.toISOString(),
      current ? "yes" : "no",
      textSha256,
    ]),
  ]);
}
