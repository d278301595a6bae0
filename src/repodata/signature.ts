import { type Key, type Signature, config, createMessage, enums, readKeys, readSignature, verify } from "openpgp";
import { RepodataFault } from "./fault.ts";

export const longestSignature = 64 * 1024; // bytes
export const longestKey = 256 * 1024; // bytes
const mostKeys = 16;
const clockSkewMs = 24 * 60 * 60 * 1000;

/** Algorithms that no longer prove who signed. Such a repository is imported, and its weakness is shown. */
export type Weakness = "md5" | "sha1" | "ripemd160" | "dsa" | "short_rsa";

/** Who signed the index of a repository. All dates are in milliseconds since 1970. */
export interface Signer {
  /** Of the primary key, 40 (v4) or 64 (v6) hex digits, upper case as gpg prints it. */
  fingerprint: string;
  userIds: string[];
  signedAt: number;
  weakness?: Weakness;
}

/**
 * Checks a detached signature, armoured or binary, with the keys beside it and says who made it. Anything else than a
 * signature over exactly these bytes by one of these keys is a fault: somebody changed something.
 *
 * The key comes from where the repository comes from, so a first import proves nothing but that the parts fit together.
 * Its worth is the fingerprint: `isSameSigner` holds every refresh to it.
 */
export async function verifySigner(signed: Uint8Array, signature: Uint8Array, keys: Uint8Array): Promise<Signer> {
  const verificationKeys = await readPublicKeys(keys);
  const parsed = await parseSignature(signature);
  const message = await createMessage({ binary: signed });
  const date = new Date(Date.now() + clockSkewMs);
  const { signatures } = await verify({ message, signature: parsed, verificationKeys, date, config: weakAllowed });
  let failure: unknown;
  for (const one of signatures) {
    try {
      await one.verified;
      return signerOf(await one.signature, one.keyID, verificationKeys);
    } catch (error) {
      failure ??= error;
    }
  }
  throw fault("is not a signature of this file by the repository's key", failure);
}

/** A public key beside a signature, in our own armour; the fingerprint in lower case. */
export interface SigningKey {
  name: string;
  fingerprint: string;
  armour: string;
}

/** All public keys of a key file. */
export async function signingKeysOf(keys: Uint8Array): Promise<SigningKey[]> {
  const found = (await readPublicKeys(keys)).map((key) => key.toPublic());
  return found.map((key) => ({
    name: (key.getUserIDs()[0] ?? "").slice(0, 255),
    fingerprint: key.getFingerprint(),
    armour: key.armor(),
  }));
}

/** Whether a refreshed repository is still signed by whom it was: then a first signature may come, but none may go or change. */
export const isSameSigner = (known: string | undefined, now: Signer | undefined): boolean =>
  known === undefined || known === now?.fingerprint;

// Old distributions are signed with SHA-1, DSA or 1024-bit RSA. We still check them: refusing to look would let a changed
// file pass as unsigned. What they are worth is said by `weakness`.
export const weakAllowed = {
  ...config,
  rejectHashAlgorithms: new Set<enums.hash>(),
  rejectMessageHashAlgorithms: new Set<enums.hash>(),
  rejectPublicKeyAlgorithms: new Set<enums.publicKey>(),
  minRSABits: 1024,
};

const fault = (why: string, cause?: unknown) =>
  new RepodataFault("bad_signature", `the signature ${why}`, cause === undefined ? {} : { cause });

const isArmoured = (bytes: Uint8Array) => new TextDecoder().decode(bytes.subarray(0, 4096)).includes("-----BEGIN PGP ");

async function parseSignature(bytes: Uint8Array): Promise<Signature> {
  if (bytes.byteLength > longestSignature) throw fault("is too large");
  try {
    return await (isArmoured(bytes)
      ? readSignature({ armoredSignature: new TextDecoder().decode(bytes) })
      : readSignature({ binarySignature: bytes }));
  } catch (error) {
    throw fault("is not an OpenPGP signature", error);
  }
}

/** Key files may hold several armoured blocks, one after the other. */
async function readPublicKeys(bytes: Uint8Array): Promise<Key[]> {
  if (bytes.byteLength > longestKey) throw fault("has a key file that is too large");
  try {
    const keys = isArmoured(bytes)
      ? await Promise.all(armouredBlocks(bytes).map((armoredKeys) => readKeys({ armoredKeys, config: weakAllowed })))
      : [await readKeys({ binaryKeys: bytes, config: weakAllowed })];
    return keys.flat().slice(0, mostKeys);
  } catch (error) {
    throw fault("has a key file that holds no OpenPGP key", error);
  }
}

const armouredBlocks = (bytes: Uint8Array): string[] =>
  new TextDecoder()
    .decode(bytes)
    .match(/-----BEGIN PGP PUBLIC KEY BLOCK-----[^]*?-----END PGP PUBLIC KEY BLOCK-----/g)
    ?.slice(0, mostKeys) ?? [];

function signerOf(signature: Signature, keyId: { toHex(): string }, keys: readonly Key[]): Signer {
  const key = keys.find((one) => one.getKeys().some((part) => part.getKeyID().toHex() === keyId.toHex()));
  const packet = signature.packets.find((one) => one.issuerKeyID.toHex() === keyId.toHex());
  if (!key || !packet?.created) throw fault("names no key that we hold");
  const weakness = weaknessOf(packet.hashAlgorithm, key);
  return {
    fingerprint: key.getFingerprint().toUpperCase(),
    userIds: key.getUserIDs(),
    signedAt: packet.created.getTime(),
    ...(weakness && { weakness }),
  };
}

const weakHashes: { [hash: number]: Weakness } = {
  [enums.hash.md5]: "md5",
  [enums.hash.sha1]: "sha1",
  [enums.hash.ripemd]: "ripemd160",
};

function weaknessOf(hash: number | null, key: Key): Weakness | undefined {
  const { algorithm, bits } = key.getAlgorithmInfo();
  if (algorithm === "dsa") return "dsa";
  if (bits !== undefined && bits < 2048) return "short_rsa";
  return hash === null ? undefined : weakHashes[hash];
}
