import { type Checksum, parseChecksum } from "./checksum.ts";
import { RepodataFault } from "./fault.ts";
import { insideRepository } from "./location.ts";

export const maxReleaseBytes = 2 * 2 ** 20; // Debian's largest has 300 KB
const maxListedFiles = 20_000;
const clockSkewMs = 24 * 60 * 60 * 1000;

/** The index of one suite of Debian, or of a repository with the same layout. */
export interface Release {
  /** Names of the suite, e.g. `bookworm` and `oldstable`. */
  names: string[];
  components: string[];
  /** Debian's names of architectures. Includes `all` if packages for all architectures have separate lists. */
  arches: string[];
  /** Milliseconds since 1970; undefined if it never expires. */
  validUntil: number | undefined;
  /** Each file is also available by its checksum, so that a mirror can change while it is read. */
  hasFilesByHash: boolean;
  /** SHA-256 and size of each file, by its path relative to the index. */
  files: Map<string, { checksum: Checksum; sizeBytes: number }>;
}

/** Reads `Release`, or the text that `InRelease` signs. */
export function readRelease(text: string): Release {
  const fields = fieldsOf(text);
  const list = (name: string) => (fields.get(name) ?? "").split(/\s+/).filter(Boolean);
  const ofAll = list("no-support-for-architecture-all").includes("Packages") ? ["all"] : [];
  return {
    names: [...list("codename"), ...list("suite")],
    // The security suite writes `updates/main`, but the files are in `main`.
    components: list("components").map((name) => name.replace(/^.*\//, "")),
    arches: list("architectures").filter((arch) => !ofAll.includes(arch)),
    validUntil: timeOf(fields.get("valid-until")),
    hasFilesByHash: fields.get("acquire-by-hash")?.trim() === "yes",
    files: filesOf(fields.get("sha256")),
  };
}

/** Refuses an expired index: a mirror could otherwise offer old packages with known faults forever. */
export function refuseExpired({ validUntil }: Release, now: number): void {
  if (validUntil === undefined || now <= validUntil + clockSkewMs) return;
  const until = new Date(validUntil).toISOString().slice(0, 10);
  throw new RepodataFault("expired", `its index was valid until ${until}, so the mirror is out of date`);
}

/** The fields by names in lower case. Lines that begin with a space continue a field. */
function fieldsOf(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [, name = "", value = ""] of text.matchAll(/^([A-Za-z][A-Za-z0-9-]*):(.*(?:\r?\n[ \t].*)*)/gm)) {
    fields.set(name.toLowerCase(), value.trim());
  }
  return fields;
}

function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new RepodataFault("malformed_metadata", "Release has an invalid Valid-Until");
  return time;
}

function filesOf(text: string | undefined): Release["files"] {
  if (text === undefined) throw new RepodataFault("malformed_metadata", "Release lists no files with SHA-256");
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length > maxListedFiles) {
    throw new RepodataFault("too_large", `Release lists more than ${maxListedFiles} files`);
  }
  return new Map(
    lines.map((line) => {
      const [, hex = "", size = "", path = ""] = /^\s*([0-9a-fA-F]+)\s+(\d{1,15})\s+(\S+)\s*$/.exec(line) ?? [];
      return [insideRepository(path), { checksum: parseChecksum("sha256", hex), sizeBytes: Number(size) }];
    }),
  );
}
