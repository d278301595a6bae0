import { isSecretPath, type RegularFile } from "#lib/contract/index";
import type { EntryBefore } from "#domain/images/path";
import { entriesIn, type FileIndex } from "#domain/images/file-store";
import { Refusal } from "#domain/refusal";

/** Refuses to follow a path if any step of it is a secret: the path itself, or the target of one of its links. */
export function refusingSecrets(entryBefore: EntryBefore): EntryBefore {
  return async (path) => {
    if (isSecretPath(path)) throw secretFile();
    return await entryBefore(path);
  };
}

/** The directories that contain a system's secrets. */
const places = ["/etc", "/root", "/home"];
/** How many names one request compares, which takes half a second. */
const maxNames = 50_000;

/**
 * Refuses a file that is a hard link to a secret or a copy of one. Both have the same position in the store as the
 * secret.
 */
export async function refuseCopyOfSecret(index: Pick<FileIndex, "entriesFrom">, file: RegularFile): Promise<void> {
  if (file.size === 0) return; // all empty files have the same position
  let left = maxNames;
  for (const place of places) {
    for await (const entry of entriesIn(index, place)) {
      if (entry.type === "f" && entry.offset === file.offset && isSecretPath(entry.path)) throw secretFile();
      left -= 1;
      if (left <= 0) return;
    }
  }
}

export const secretFile = () =>
  new Refusal("access_denied", {
    message: "This file has password hashes, keys or other secrets. Only the owner of the appliance can read it here.",
  });
