import { fieldsOf } from "../guest/host-packages.ts";
import { RootFault } from "./definition.ts";

/** The fields of a suite's `Release`. */
export interface ReleaseFile {
  date: string;
  /** Milliseconds since 1970. Undefined if it never expires. */
  validUntil: number | undefined;
  hasFilesByHash: boolean;
  files: Map<string, { sha256: string; size: number }>;
}

export function readReleaseFile(text: string): ReleaseFile {
  const fields = fieldsOf(text.replaceAll("\r", ""));
  const until = fields.get("Valid-Until");
  return {
    date: new Date(timeOf(fields.get("Date") ?? "")).toISOString(),
    validUntil: until === undefined ? undefined : timeOf(until),
    hasFilesByHash: fields.get("Acquire-By-Hash")?.trim() === "yes",
    files: new Map(
      [...(fields.get("SHA256") ?? "").matchAll(/^\s*([0-9a-f]{64})\s+(\d{1,15})\s+(\S+)$/gm)].map(
        ([, sha256 = "", size = "", path = ""]) => [path, { sha256, size: Number(size) }],
      ),
    ),
  };
}

function timeOf(text: string): number {
  const time = Date.parse(text.trim());
  if (Number.isNaN(time)) throw new RootFault("An index has an invalid date.");
  return time;
}
