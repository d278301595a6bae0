import { basename } from "node:path";
import { readIfThere } from "../files.ts";
import type { PinnedKey } from "../login/login.ts";
import { openEnvelope, unverified } from "./envelope.ts";

/** The signed statements about rebuilds of an image are a file next to it: the image's name followed by this. */
export const rebuildStatements = ".rebuilds.intoto.jsonl";

/** The statement about a rebuild (docs/rebuilds.md). */
interface Statement {
  predicateType: string;
  subject: { digest: { sha256: string } }[];
  predicate: { result: "same" | "differs"; byOtherAgent: boolean | null; metadata: { finishedOn: string } };
}

/** The signed result of a rebuild of an image. */
export interface Rebuild {
  result: "same" | "differs";
  /** Null if the service does not know which builder made the image. */
  by_other_agent: boolean | null;
  finished_at: string;
}

/** Reads the statements next to an image, offline. Undefined if there are none. */
export function verifyRebuilds(file: string, image: string, keys: readonly PinnedKey[]): Rebuild[] | undefined {
  const text = readIfThere(file + rebuildStatements)?.toString("utf8");
  return text
    ?.trimEnd()
    .split("\n")
    .map((line) => rebuildIn(line, { file, image, keys }));
}

function rebuildIn(
  line: string,
  { file, image, keys }: { file: string; image: string; keys: readonly PinnedKey[] },
): Rebuild {
  const { statement } = openEnvelope<Statement>(line, keys, "statement about a rebuild");
  const { predicateType, subject, predicate } = statement;
  if (predicateType !== "urn:kiln:rebuild:1" || subject[0]?.digest.sha256 !== image)
    throw unverified(
      `${basename(file + rebuildStatements)} is about something else.`,
      "Delete it, or download the image again.",
    );
  const { result, byOtherAgent, metadata } = predicate;
  return { result, by_other_agent: byOtherAgent, finished_at: metadata.finishedOn };
}

/** A line for people. */
export function rebuildsText(rebuilds: readonly Rebuild[] | undefined): string {
  if (!rebuilds) return "no statement about a rebuild came with the image";
  const same = rebuilds.filter(({ result }) => result === "same");
  const others = same.filter(({ by_other_agent: other }) => other === true).length;
  const differ = rebuilds.length - same.length;
  return [
    ...(same.length > 0 ? [`${times(same.length)} with the same bytes, ${times(others)} by another builder`] : []),
    ...(differ > 0 ? [`${times(differ)} with other bytes`] : []),
  ].join("; ");
}

const times = (count: number): string => ["never", "once", "twice"][count] ?? `${count} times`;
