import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { readSigned } from "../packages/index-signature.ts";
import { outputOf } from "../process.ts";
import { quietLimit } from "../quiet-limit.ts";
import { RemoteRefusal, shortTries, withRetry } from "../retry.ts";
import type { RootDefinition, Suite } from "./definition.ts";
import { RootFault } from "./fault.ts";
import { PackagesIndex } from "./packages-index.ts";
import { readReleaseFile, type ReleaseFile } from "./release.ts";
import type { RootRelease } from "./store.ts";

export interface FetchPlace {
  workDir: string;
  signal: AbortSignal;
}

/** A file that is known by its checksum. */
export interface KnownFile {
  url: string;
  sha256: string;
  size: number;
}

/** All packages of the definition's suites, each held to a signed index; and those indexes, for the record. */
export async function fetchIndex(
  { suites, keyring }: RootDefinition,
  { acceptExpired, ...place }: FetchPlace & { acceptExpired: boolean },
): Promise<{ index: PackagesIndex; releases: RootRelease[] }> {
  const keys = await readFile(keyring, "utf8");
  const index = new PackagesIndex();
  const releases: RootRelease[] = [];
  for (const suite of suites) {
    const { release, record } = await fetchRelease(suite, keys, place);
    const isExpired = release.validUntil !== undefined && Date.now() > release.validUntil;
    if (isExpired && !acceptExpired) throw expired(suite, release);
    releases.push({ ...record, ...(isExpired && { acceptedExpired: true }) });
    for (const component of suite.components)
      index.add(await fetchList(suite, component, { ...place, release }), suite);
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

async function fetchRelease({ url, suite }: Suite, keys: string, { workDir, signal }: FetchPlace) {
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
  if (!answer.ok) {
    await answer.body?.cancel();
    throw new RemoteRefusal(`GET ${url}`, answer.status, "");
  }
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const bytes of answer.body ?? []) {
    if ((size += bytes.length) > maxIndexBytes) throw new RootFault(`${url} is too large.`);
    pieces.push(bytes);
  }
  return Buffer.concat(pieces);
}

/** A list by its checksum where the mirror offers that, so that the mirror may change while it is read. */
async function fetchList(
  { url, suite }: Suite,
  component: string,
  { workDir, signal, release }: FetchPlace & { release: ReleaseFile },
): Promise<string> {
  const path = `${component}/binary-amd64/Packages.xz`;
  const listed = release.files.get(path);
  if (!listed) throw new RootFault(`The index of ${suite} at ${url} lists no ${path}.`);
  const place = release.hasFilesByHash ? `${component}/binary-amd64/by-hash/SHA256/${listed.sha256}` : path;
  const file = join(workDir, "Packages.xz");
  await fetchKnown({ url: `${url}/dists/${suite}/${place}`, ...listed }, file, signal);
  return await outputOf("xz", ["--decompress", "--stdout", file], signal);
}

/** @throws RootFault if it is another file than the one that is known */
export async function fetchKnown({ url, sha256, size }: KnownFile, into: string, signal: AbortSignal): Promise<void> {
  await withRetry(async () => {
    const quiet = quietLimit(signal);
    try {
      const answer = await fetch(url, { signal: quiet.signal });
      if (!answer.ok || !answer.body) {
        await answer.body?.cancel();
        throw new RemoteRefusal(`GET ${url}`, answer.status, "");
      }
      await pipeline(answer.body, checked({ url, sha256, size }, quiet.heard), createWriteStream(into));
    } finally {
      quiet.end();
    }
  }, shortTries(signal));
}

/** Passes bytes on, up to the size that the index names, and fails at the end unless they have its checksum. */
function checked({ url, sha256, size }: KnownFile, heard: () => void): Transform {
  const digest = createHash("sha256");
  let passed = 0;
  const isWrong = () => new RootFault(`${url} is not the file that the signed index names.`);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      heard();
      digest.update(chunk);
      passed += chunk.length;
      done(passed > size ? isWrong() : null, chunk);
    },
    flush(done) {
      done(digest.digest("hex") === sha256 ? null : isWrong());
    },
  });
}
