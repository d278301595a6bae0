import { type Arch, architectures } from "#lib/contract/index";
import { hexDigest } from "./checksum.ts";
import { type Release, maxReleaseBytes, readRelease, refuseExpired } from "./deb-release.ts";
import { RepodataFault } from "./fault.ts";
import type { Download, OpenedRepository, RepositoryPart } from "./opened-repository.ts";
import { type Signer, type SigningKey, readClearsigned, verifyClearsigned } from "./signature.ts";
import { readAtMost } from "./streams.ts";

/** The owner's settings for a repository. */
export interface DebRequest {
  /** One of these keys must sign the index. If empty, the index need not be signed. */
  keys: readonly SigningKey[];
  /** More keys of its owner. Once one of them signs the index, it is required as if it were in `keys`. */
  ownersKeys: readonly SigningKey[];
  /** Accept an index that has expired. */
  acceptsExpired: boolean;
  /** The components to read. If empty, `main`, or all of them if there is no `main`. */
  components: readonly string[];
  /** The names of the packages to read. If empty, all. */
  only: readonly string[];
  /** The architectures to read. If empty, all that images can have. */
  arches: readonly Arch[];
}

const maxLists = 32;

/** Reads the index of a Debian suite or of a flat repository. Undefined if there is none. */
export async function openDeb(download: Download, request: DebRequest): Promise<OpenedRepository | undefined> {
  const index = await readIndex(download, request);
  if (!index) return undefined;
  const { bytes, text, signer, keys } = index;
  const release = readRelease(text);
  if (!request.acceptsExpired) refuseExpired(release, Date.now());
  return {
    type: "deb",
    revision: hexDigest("sha256", bytes),
    signer,
    keys: [...keys],
    distributions: release.names.map((name) => ({ name })),
    packages: listsOf(release, request),
    ...(request.only.length > 0 && { only: request.only }),
    packagesFolder: "",
    patterns: [],
  };
}

interface Index {
  bytes: Uint8Array;
  text: string;
  signer: Signer | undefined;
  /** Every later index must be signed by one of these keys; empty if it is not signed. */
  keys: readonly SigningKey[];
}

const unsigned = { signer: undefined, keys: [] };

/** InRelease is index and signature in one file. A repository without keys may also have an unsigned Release. */
async function readIndex(download: Download, { keys, ownersKeys }: DebRequest): Promise<Index | undefined> {
  const signed = await small(download, "InRelease");
  if (signed && keys.length > 0) return { bytes: signed, ...(await verifyClearsigned(signed, keys)), keys };
  if (signed) {
    const known = await signedByOwnersKey(signed, ownersKeys);
    return { bytes: signed, ...(known ?? { ...unsigned, text: await readClearsigned(signed) }) };
  }
  const plain = await small(download, "Release");
  if (!plain) return undefined;
  if (keys.length > 0) throw new RepodataFault("bad_signature", "it has no InRelease, which must be signed");
  return { bytes: plain, text: new TextDecoder().decode(plain), ...unsigned };
}

/** Undefined if none of these keys has signed the index, so that its signature proves nothing here. */
async function signedByOwnersKey(signed: Uint8Array, keys: readonly SigningKey[]) {
  if (keys.length === 0) return undefined;
  try {
    const { text, signer } = await verifyClearsigned(signed, keys);
    return { text, signer, keys: keys.filter(({ fingerprint }) => fingerprint === signer.fingerprint.toLowerCase()) };
  } catch (error) {
    if (error instanceof RepodataFault) return undefined;
    throw error;
  }
}

async function small(download: Download, path: string): Promise<Uint8Array | undefined> {
  const body = await download(path);
  return body && readAtMost(body, maxReleaseBytes, path);
}

/** One list for each component and architecture. A flat repository has only one list. */
function listsOf(release: Release, request: DebRequest): RepositoryPart[] {
  const lists = directoriesOf(release, request).flatMap((directory) => listIn(release, directory) ?? []);
  if (lists.length > maxLists) throw new RepodataFault("too_large", `it has more than ${maxLists} lists of packages`);
  if (lists.length > 0) return lists;
  const flat = listIn(release, "");
  if (flat) return [flat];
  throw new RepodataFault("malformed_metadata", "its index lists no packages for these components and architectures");
}

function directoriesOf(release: Release, request: DebRequest): string[] {
  const main = release.components.includes("main") ? ["main"] : release.components;
  const components = request.components.length > 0 ? request.components : main;
  const wanted = request.arches.length > 0 ? request.arches : (["x86_64", "i586"] as const);
  const arches = [...wanted.map((arch) => architectures[arch].debian), "all"].filter((arch) =>
    release.arches.includes(arch),
  );
  return components.flatMap((component) => arches.map((arch) => `${component}/binary-${arch}/`));
}

/** The smallest compression of a list. Most archives also list the plain one, and do not have it. */
function listIn({ files, hasFilesByHash }: Release, directory: string): RepositoryPart | undefined {
  const [plain, ...compressed] = ["", ".xz", ".zst", ".gz", ".bz2"].map((suffix) => {
    const path = `${directory}Packages${suffix}`;
    const file = files.get(path);
    return file && { path, ...file };
  });
  const found = compressed.filter((one) => one !== undefined);
  const [smallest = plain] = found.toSorted((a, b) => a.sizeBytes - b.sizeBytes);
  if (!smallest || !hasFilesByHash) return smallest;
  return { ...smallest, path: `${directory}by-hash/SHA256/${smallest.checksum.hex}` };
}
