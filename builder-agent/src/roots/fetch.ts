import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readSigned } from "../packages/index-signature.ts";
import { outputOf } from "../process.ts";
import { succeeded } from "../packages/mirror.ts";
import { collect, quietLimit, receive } from "../receive.ts";
import { shortTries, withRetry } from "../retry.ts";
import { RootFault, type RootDefinition, type Suite } from "./definition.ts";
import { PackagesIndex } from "./packages-index.ts";
import type { RootRelease } from "./store.ts";
import { fieldsOf } from "../guest/host-packages.ts";

export interface FetchTarget {
  workDir: string;
  signal: AbortSignal;
}

/** A file whose checksum is known. */
export interface KnownFile {
  url: string;
  sha256: string;
  size: number;
}

/** All packages of the definition's suites, verified by signed indexes, and a record of those indexes. */
export async function fetchIndex(
  { suites, keyring }: RootDefinition,
  { acceptExpired, ...target }: FetchTarget & { acceptExpired: boolean },
): Promise<{ index: PackagesIndex; releases: RootRelease[] }> {
  const keys = await readFile(keyring, "utf8");
  const index = new PackagesIndex();
  const releases: RootRelease[] = [];
  for (const suite of suites) {
    const { release, record } = await fetchRelease(suite, keys, target);
    const isExpired = release.validUntil !== undefined && Date.now() > release.validUntil;
    if (isExpired && !acceptExpired) throw expired(suite, release);
    releases.push({ ...record, ...(isExpired && { acceptedExpired: true }) });
    for (const component of suite.components)
      index.add(await fetchList(suite, component, { ...target, release }), suite);
  }
  return { index, releases };
}

function expired({ url, suite }: Suite, { validUntil }: ReleaseFile): RootFault {
  const until = new Date(validUntil ?? 0).toISOString().slice(0, 10);
  return new RootFault(
    `The index of ${suite} at ${url} was valid until ${until}, so this mirror may hide newer versions. Choose another mirror, or accept it with --accept-expired.`,
  );
}

const maxIndexBytes = 4 * 2 ** 20;

async function fetchRelease({ url, suite }: Suite, keys: string, { workDir, signal }: FetchTarget) {
  const bytes = await withRetry(() => fetchSmall(`${url}/dists/${suite}/InRelease`, signal), shortTries(signal));
  const signed = await readSigned(bytes, keys, { dir: join(workDir, "index-signature"), signal });
  if (!signed)
    throw new RootFault(`The index of ${suite} at ${url} is not signed by a key of the definition's keyring.`);
  const release = readReleaseFile(signed.text);
  const record: RootRelease = {
    url,
    suite,
    date: release.date,
    ...(release.validUntil !== undefined && { validUntil: new Date(release.validUntil).toISOString() }),
    sha256: createHash("sha256").update(bytes).digest("hex"),
    signedBy: signed.signedBy,
  };
  return { release, record };
}

async function fetchSmall(url: string, signal: AbortSignal): Promise<Buffer> {
  const answer = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(60_000)]) });
  const bytes = await collect(succeeded(answer, `GET ${url}`).body, maxIndexBytes);
  if (!bytes) throw new RootFault(`${url} is too large.`);
  return bytes;
}

/** Fetches a list by its checksum if the mirror offers that, because the mirror may be updated in the meantime. */
async function fetchList(
  { url, suite }: Suite,
  component: string,
  { workDir, signal, release }: FetchTarget & { release: ReleaseFile },
): Promise<string> {
  const path = `${component}/binary-amd64/Packages.xz`;
  const listed = release.files.get(path);
  if (!listed) throw new RootFault(`The index of ${suite} at ${url} lists no ${path}.`);
  const listPath = release.hasFilesByHash ? `${component}/binary-amd64/by-hash/SHA256/${listed.sha256}` : path;
  const file = join(workDir, "Packages.xz");
  await fetchKnown({ url: `${url}/dists/${suite}/${listPath}`, ...listed }, file, signal);
  return await outputOf("xz", ["--decompress", "--stdout", file], signal);
}

/** @throws RootFault if the file has a different checksum */
export async function fetchKnown({ url, sha256, size }: KnownFile, into: string, signal: AbortSignal): Promise<void> {
  const wrong = () => new RootFault(`${url} is not the file that the signed index names.`);
  await withRetry(async () => {
    using quiet = quietLimit(signal);
    const { body } = succeeded(await fetch(url, { signal: quiet.signal }), `GET ${url}`);
    const onBytes = (received: number) => {
      quiet.heard();
      if (received > size) throw wrong();
    };
    if ((await receive(body, into, { onBytes })) !== sha256) throw wrong();
  }, shortTries(signal));
}

/** The fields of a suite's `Release`. */
interface ReleaseFile {
  date: string;
  /** Milliseconds since 1970. Undefined if it never expires. */
  validUntil: number | undefined;
  hasFilesByHash: boolean;
  files: Map<string, { sha256: string; size: number }>;
}

function readReleaseFile(text: string): ReleaseFile {
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
