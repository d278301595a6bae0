/** Checks the signatures of the packages and indexes that a build has fetched. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { BuildFailure } from "../run/failure.ts";
import { ownLine } from "../run/log-line.ts";
import { collect, quietLimit } from "../receive.ts";
import type { FrozenInput, RepositoryTrust } from "../contract.ts";
import { sentenceOf } from "../log.ts";
import { OutsideRefused } from "../outside.ts";
import { isWorthRetry, RemoteRefusal, shortTries, withRetry } from "../retry.ts";
import { isSignedIndex } from "./index-signature.ts";
import { addressOf, askRepository, type Reach } from "./mirror.ts";
import { checkPackageSignatures } from "./package-signatures.ts";

export interface TrustCheck {
  input: Pick<FrozenInput, "packages" | "packageType" | "repositories" | "keys">;
  /** The directory with the packages. */
  dir: string;
  workDir: string;
  reach: Reach;
  signal: AbortSignal;
  onLine: (line: string) => void;
}

type Signed = FrozenInput["repositories"][number] & { trust: RepositoryTrust };

/**
 * Checks the repositories that were signed when their packages were chosen. A key of the repository or of the appliance
 * must have signed each package. If the index has not changed since, a key of the repository must have signed it. For
 * other repositories only the packages' checksums are verified, and the log says so. Debian signs no packages: its
 * signed index has the checksums of the lists, and the lists have those of the packages.
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

/** The index may have changed or be unreachable. The packages are checked in any case. */
async function checkIndex(repository: Signed, check: TrustCheck): Promise<string> {
  const { index: path, indexSha256, signedBy, keys } = repository.trust;
  const index = await read(path, repository, check);
  if (!("bytes" in index)) return `did not deliver its index: ${index.reason}`;
  const digest = createHash("sha256").update(index.bytes).digest("hex");
  if (digest !== indexSha256) return "has a different index than when the packages were chosen";
  const signature = check.input.packageType === "deb" ? contained : await read(`${path}.asc`, repository, check);
  if ("reason" in signature && !signature.isGone) return `did not deliver its signature: ${signature.reason}`;
  const dir = join(check.workDir, "index-signature");
  const isGood =
    !("reason" in signature) &&
    (await isSignedIndex({ index: index.bytes, signature: signature.bytes, keys }, dir, check.signal));
  if (isGood) return `has an index signed by the key ${signedBy}`;
  const why = `The index of the repository ${repository.name} is no longer signed by its key ${signedBy}.`;
  throw new BuildFailure({
    kind: "failed",
    reason: `${why} Ask its owner, or refresh the repository and build again.`,
  });
}

/** An InRelease has its signature inside. */
const contained = { bytes: undefined };

/** `isGone` means that there is no such file, or that it is too large to be one. */
type Read = { bytes: Uint8Array } | { reason: string; isGone: boolean };

const maxBytes = 2 * 1024 * 1024;

async function read(path: string, repository: Signed, { reach, signal }: TrustCheck): Promise<Read> {
  const address = addressOf(repository, path);
  try {
    return await withRetry(async () => {
      using quiet = quietLimit(signal);
      const { body } = await askRepository(address, reach, quiet.signal);
      const bytes = await collect(body, maxBytes, quiet.heard);
      return bytes ? { bytes } : { reason: "it is too large", isGone: true };
    }, shortTries(signal));
  } catch (error) {
    signal.throwIfAborted();
    const isAnswer = error instanceof RemoteRefusal;
    if (!isAnswer && !(error instanceof OutsideRefused) && !isWorthRetry(error)) throw error;
    return { reason: sentenceOf(error).slice(0, 300), isGone: isAnswer && [403, 404, 410].includes(error.status) };
  }
}
