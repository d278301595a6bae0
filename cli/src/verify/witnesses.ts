import { value } from "../command.ts";
import { readText } from "../files.ts";
import { Complaint } from "../complaint.ts";
import { cosignersOf, readKey, type KeyType, type NamedKey } from "../image-log.ts";
import { unverified } from "./envelope.ts";

/** The witnesses whose cosignatures a user requires. */
export interface Quorum {
  witnesses: readonly NamedKey[];
  /** How many of them must have cosigned. */
  count: number;
}

export const quorumOptions = {
  witnesses: value(
    "file",
    "fail unless the witnesses whose keys are in this file have cosigned the state of the public log",
  ),
  quorum: value("number", "how many of the witnesses are enough; the default is all of them"),
};

/** The keys in a file: one on each line, as signed notes write keys. Lines with # are comments. */
export function keysIn(file: string, type: KeyType): NamedKey[] {
  const next = "It must have a key on each line: NAME+HASH+KEY.";
  const lines = readText(file, next)
    .split("\n")
    .map((line, nth) => ({ text: line.trim(), number: nth + 1 }))
    .filter(({ text }) => text !== "" && !text.startsWith("#"));
  const keys = lines.map(({ text, number }) => {
    const key = readKey(text);
    if (key?.type === type) return key;
    // Without the line itself: the file may be a wrong one, with secrets.
    throw new Complaint("misused", `Line ${number} of ${file} is not the key of a ${type}.`, next);
  });
  // A key under two names is one witness.
  return type === "log" ? keys : [...new Map(keys.map((one) => [one.key.x, one])).values()];
}

/** Undefined if no witnesses are requested. All of them must have cosigned unless `count` is given. */
export function quorumOf(file: string | undefined, count: string | undefined): Quorum | undefined {
  if (file === undefined) {
    if (count === undefined) return undefined;
    throw new Complaint("misused", "--quorum needs --witnesses.", "Name the file with the keys of the witnesses.");
  }
  const witnesses = keysIn(file, "witness");
  const wanted = count === undefined ? witnesses.length : Number(count);
  if (Number.isInteger(wanted) && wanted >= 1 && wanted <= witnesses.length) return { witnesses, count: wanted };
  throw new Complaint(
    "misused",
    `${file} has ${witnesses.length} witnesses, so the quorum cannot be ${wanted}.`,
    "Name between 1 and all of them.",
  );
}

/** The names of the witnesses that have cosigned the checkpoint. Fails if they are too few. */
export function cosignedBy(note: string, { witnesses, count }: Quorum): string[] {
  const names = cosignersOf(note, witnesses).map(({ name }) => name);
  if (names.length >= count) return names;
  throw unverified(
    `${names.length} of ${witnesses.length} witnesses have cosigned the checkpoint of the public log, but ${count} must.`,
    "Download the proof again in a few minutes. If the problem persists, ask the operator of the service.",
  );
}
