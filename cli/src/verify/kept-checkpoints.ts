import { Complaint } from "../complaint.ts";
import { readIfThere } from "../files.ts";
import { readCheckpoint, type Checkpoint } from "../image-log.ts";
import { storedFiles, storeFile } from "../login/login.ts";

const suffix = ".checkpoint";
const nameFor = (url: string): string => encodeURIComponent(url) + suffix;

/** The newest checkpoint that this machine has saved of each service's log. */
export const keptCheckpoints = (): Checkpoint[] =>
  storedFiles(suffix).flatMap((file) => readCheckpoint(readIfThere(file)?.toString("utf8") ?? "") ?? []);

/** The saved checkpoint of the service at this address. Its signature was verified when it was saved. */
export function keptCheckpoint(url: string): Checkpoint | undefined {
  const [file] = storedFiles(nameFor(url));
  if (file === undefined) return undefined;
  const kept = readCheckpoint(readIfThere(file)?.toString("utf8") ?? "");
  if (!kept) throw new Complaint("refused", `${file} is damaged.`, "Restore it from a backup, or delete it.");
  return kept;
}

export const keepCheckpoint = (url: string, note: string): void => storeFile(nameFor(url), note);
