import { isSecretPath, type RegularFile } from "#lib/contract/index";
import type { EntryBefore } from "#domain/images/path";
import { entriesIn, type FileIndex } from "#domain/images/file-store";
import { Refusal } from "#domain/refusal";

/** Refuses each step of a path that is a secret: the path itself, and the targets of its links. */
export function refusingSecrets(entryBefore: EntryBefore): EntryBefore {
  return async (path) => {
    if (isSecretPath(path)) throw secretFile();
    return await entryBefore(path);
  };
}

/** The directories that contain the secrets of a system. */
const places = ["/etc", "/root", "/home"];
/** The number of names that one request compares, which takes half a second. */
const maxNames = 50_000;

/** Refuses a file that is a hard link to a secret, or a copy of one: both have the same position in the store. */
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
