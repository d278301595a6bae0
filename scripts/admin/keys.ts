import { Complaint } from "../launch/complaint.ts";
import { print } from "../launch/progress.ts";
import type { AdminClient } from "./client.ts";

const shownRows = 20;

/** Re-encrypts, with the first key, values that were encrypted with other keys. */
export async function reencrypt(admin: AdminClient): Promise<void> {
  const changed = await walk(admin, "reencrypt");
  print(
    changed === 0
      ? "The first key has encrypted everything that is stored. No other key is needed."
      : `Encrypted ${changed} values with the first key. Run this again until it finds nothing to do.`,
  );
}

/** Makes API keys work again after the pepper has changed. */
export async function rehash(admin: AdminClient): Promise<void> {
  const changed = await walk(admin, "rehash");
  print(changed === 0 ? "All API keys work." : `${changed} API keys work again.`);
}

/** Deletes what a key signed that is no longer listed. The service signs it again when it is requested. */
export async function resign(admin: AdminClient): Promise<void> {
  let deleted = 0;
  for (let after: number | null = 0; after !== null;) {
    const page = await admin.resign(after);
    deleted += page.deleted;
    after = page.next;
  }
  print(
    deleted === 0
      ? "The keys of the service have signed the documents of all images."
      : `The documents of ${deleted} images are signed again when someone reads them.`,
  );
}

/** Returns the number of changed values. */
async function walk(admin: AdminClient, act: "reencrypt" | "rehash"): Promise<number> {
  let changed = 0;
  const unreadable: string[] = [];
  let page = await admin.walkKeys(act, undefined);
  for (;;) {
    changed += page.changed;
    unreadable.push(...page.unreadable.map(({ column, row }) => `${column} ${row}`));
    if (!page.next) break;
    if (page.left > 0) print(`${changed} changed, ${page.left} left to read.`);
    page = await admin.walkKeys(act, page.next);
  }
  if (unreadable.length === 0) return changed;
  const shown = unreadable.slice(0, shownRows).join(", ");
  throw new Complaint(
    `Changed ${changed} values. No key of the service decrypts ${unreadable.length} others (rows of the database): ${shown}. ` +
      "Add the key that encrypted them to API_KEY_ENCRYPTION_KEY.",
  );
}
