/** Holds what a build has fetched to the keys of its repositories. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { BuildFailure } from "../build/build-failure.ts";
import { ownLine } from "../build/log-line.ts";
import { quietLimit } from "../quiet-limit.ts";
import type { FrozenInput, RepositoryTrust } from "../contract.ts";
import { sentenceOf } from "../log.ts";
import { OutsideRefused } from "../outside.ts";
import { isWorthRetry, RemoteRefusal, shortTries, withRetry } from "../retry.ts";
import { isSignedIndex } from "./index-signature.ts";
import { addressOf, askRepository, type Reach } from "./mirror.ts";
import { checkPackageSignatures } from "./package-signatures.ts";

export interface TrustCheck {
  input: Pick<FrozenInput, "packages" | "packageType" | "repositories" | "keys">;
  /** Where the packages are. */
  dir: string;
  /** Of the build. */
  workDir: string;
  reach: Reach;
  signal: AbortSignal;
  onLine: (line: string) => void;
}

type Signed = FrozenInput["repositories"][number] & { trust: RepositoryTrust };

/**
 * A repository that was signed when its packages were chosen: each of its packages must be signed by a key of the repository
 * or of the appliance, and its index, while it is still that one, must be signed by the repository's. All others are told in
 * the log as not signed: there the checksum alone is what a package is held to. Debian signs no package: a signed index
 * names the checksums of the lists, which name those of the packages.
 */
export async function checkTrust(check: TrustCheck): Promise<void> {
  const { input, onLine, dir, signal } = check;
  for (const repository of input.repositories) {
    const packages = input.packages.filter((one) => one.repository === repository.alias);
    if (packages.length === 0) continue;
    const say = (what: string) => onLine(ownLine(`the repository ${oneLine(repository.name)} ${what}`, new Date()));
    if (isSigned(repository)) {
      say(await checkIndex(repository, check));
      if (input.packageType === "deb") continue;
      const keys = distinct([...repository.trust.keys, ...(input.keys ?? [])]);
      await checkPackageSignatures({ packages, repository, keys, dir, signal });
      say(`has signed packages: ${packages.length} of ${packages.length}`);
    } else if (repository.trust === null && !repository.url.startsWith("service:/user/")) {
      say("is not signed: its packages are compared with their checksums only");
    }
  }
}

const oneLine = (name: string) => name.replaceAll(/\s+/g, " ").slice(0, 255);

const isSigned = (repository: FrozenInput["repositories"][number]): repository is Signed =>
  repository.trust !== undefined && repository.trust !== null;

const distinct = <K extends { fingerprint: string }>(keys: K[]): K[] => [
  ...new Map(keys.map((key) => [key.fingerprint, key])).values(),
];

/** The index may have changed or be unreachable. Packages are checked against the checksums and keys of the build anyway. */
async function checkIndex(repository: Signed, check: TrustCheck): Promise<string> {
  const { index: path, indexSha256, signedBy, keys } = repository.trust;
  const index = await read(path, repository, check);
  if (!("bytes" in index)) return `could not be asked for its index: ${index.reason}`;
  const digest = createHash("sha256").update(index.bytes).digest("hex");
  if (digest !== indexSha256) return "has another index than when the packages were chosen";
  const signature = check.input.packageType === "deb" ? contained : await read(`${path}.asc`, repository, check);
  if ("reason" in signature && !signature.isGone) return `could not be asked for its signature: ${signature.reason}`;
  const dir = join(check.workDir, "index-signature");
  const isGood =
    !("reason" in signature) &&
    (await isSignedIndex({ index: index.bytes, signature: signature.bytes, keys }, dir, check.signal));
  if (isGood) return `has an index signed by the key ${signedBy}`;
  const why = `The index of the repository ${repository.name} is not signed by its key ${signedBy} any more.`;
  throw new BuildFailure({
    kind: "failed",
    reason: `${why} Ask its owner, or refresh the repository and build again.`,
  });
}

/** An InRelease has its signature inside. */
const contained = { bytes: undefined };

/** `isGone`: there is no such file, or none that could be one. */
type Read = { bytes: Uint8Array } | { reason: string; isGone: boolean };

const maxBytes = 2 * 1024 * 1024;

async function read(path: string, repository: Signed, { reach, signal }: TrustCheck): Promise<Read> {
  const address = addressOf(repository, path);
  try {
    return await withRetry(async () => {
      const quiet = quietLimit(signal);
      try {
        return await whole(await askRepository(address, reach, quiet.signal), quiet.heard);
      } finally {
        quiet.end();
      }
    }, shortTries(signal));
  } catch (error) {
    signal.throwIfAborted();
    const isAnswer = error instanceof RemoteRefusal;
    if (!isAnswer && !(error instanceof OutsideRefused) && !isWorthRetry(error)) throw error;
    return { reason: sentenceOf(error).slice(0, 300), isGone: isAnswer && [403, 404, 410].includes(error.status) };
  }
}

async function whole(answer: Response, heard: () => void): Promise<Read> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const bytes of answer.body ?? []) {
    heard();
    if ((size += bytes.length) > maxBytes) return { reason: "it is too large", isGone: true };
    pieces.push(bytes);
  }
  return { bytes: Buffer.concat(pieces) };
}
