import {
  type CleartextMessage,
  type Key,
  type Signature,
  config,
  createMessage,
  enums,
  readCleartextMessage,
  readKeys,
  readSignature,
  verify,
} from "openpgp";
import { RepodataFault } from "./fault.ts";
import { whyCostly } from "./key-limits.ts";

export const maxSignatureBytes = 64 * 1024;
export const maxKeyBytes = 256 * 1024;
const maxKeys = 16;
/** openpgp verifies all at once, and one may take 30 ms. Distributions sign with up to three keys. */
const maxSignatures = 16;
const clockSkewMs = 24 * 60 * 60 * 1000;

/** Algorithms that no longer prove the signer. A repository signed with one is imported, and the weakness is shown. */
type Weakness = "md5" | "sha1" | "ripemd160" | "dsa" | "short_rsa";

/** The signer of a repository's index. All times are in milliseconds since 1970. */
export interface Signer {
  /** Fingerprint of the primary key: 40 (v4) or 64 (v6) hex digits in upper case, as gpg prints them. */
  fingerprint: string;
  userIds: string[];
  signedAt: number;
  weakness?: Weakness;
}

/**
 * Checks a detached signature, armoured or binary, with the keys next to it, and returns the signer. Refuses everything
 * but a signature of exactly these bytes by one of these keys.
 *
 * The key comes from the same server as the repository, so the first import proves only that they belong together. The
 * fingerprint protects later refreshes: see `isSameSigner`.
 */
export async function verifySigner(signed: Uint8Array, signature: Uint8Array, keys: Uint8Array): Promise<Signer> {
  const verificationKeys = await readPublicKeys(keys);
  const parsed = await parseSignature(signature);
  refuseMany(parsed.packets.length);
  const message = await createMessage({ binary: signed });
  const date = new Date(Date.now() + clockSkewMs);
  const { signatures } = await verify({ message, signature: parsed, verificationKeys, date, config: weakAllowed });
  return firstValid(signatures, verificationKeys);
}

/**
 * Reads a text that contains its own signature, as in Debian's InRelease. `text` has only what is signed, without
 * anything before or after it. Refuses weak algorithms: no distribution that signs in this way needs one.
 */
export async function verifyClearsigned(
  signed: Uint8Array,
  keys: readonly SigningKey[],
): Promise<{ text: string; signer: Signer }> {
  const verificationKeys = await readPublicKeys(new TextEncoder().encode(keys.map(({ armour }) => armour).join("\n")));
  const message = await cleartext(signed);
  const date = new Date(Date.now() + clockSkewMs);
  const { signatures, data } = await verify({ message, verificationKeys, date });
  return { text: data, signer: await firstValid(signatures, verificationKeys) };
}

/** The text without its signatures. */
export const readClearsigned = async (signed: Uint8Array): Promise<string> => (await cleartext(signed)).getText();

async function cleartext(signed: Uint8Array): Promise<CleartextMessage> {
  const message = await parseCleartext(signed);
  refuseMany(message.getSigningKeyIDs().length);
  return message;
}

async function parseCleartext(signed: Uint8Array): Promise<CleartextMessage> {
  try {
    return await readCleartextMessage({ cleartextMessage: new TextDecoder().decode(signed) });
  } catch (error) {
    throw fault("is not one around a text", error);
  }
}

function refuseMany(signatures: number): void {
  if (signatures > maxSignatures) throw fault(`is one of more than ${maxSignatures}`);
}

type Signatures = Awaited<ReturnType<typeof verify>>["signatures"];

async function firstValid(signatures: Signatures, verificationKeys: readonly Key[]): Promise<Signer> {
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

/** A public key next to a signature, armoured by Kiln. The fingerprint is in lower case. */
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

/**
 * Whether a refreshed repository still has its signer. An unsigned one may get one, but none may be removed or changed.
 */
export const isSameSigner = (known: string | undefined, now: Signer | undefined): boolean =>
  known === undefined || known === now?.fingerprint;

// Old distributions are signed with SHA-1, DSA or 1024-bit RSA. We still check them, because otherwise a changed file
// would pass as unsigned. `weakness` records how little such a signature proves.
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
  if (bytes.byteLength > maxSignatureBytes) throw fault("is too large");
  try {
    return await (isArmoured(bytes)
      ? readSignature({ armoredSignature: new TextDecoder().decode(bytes) })
      : readSignature({ binarySignature: bytes }));
  } catch (error) {
    throw fault("is not an OpenPGP signature", error);
  }
}

/** A key file may contain several armoured blocks, one after the other. */
async function readPublicKeys(bytes: Uint8Array): Promise<Key[]> {
  if (bytes.byteLength > maxKeyBytes) throw fault("has a key file that is too large");
  const keys = await parseKeys(bytes);
  const why = keys.map(whyCostly).find((one) => one !== undefined);
  if (why !== undefined) throw fault(`has a key that ${why}`);
  return keys;
}

async function parseKeys(bytes: Uint8Array): Promise<Key[]> {
  try {
    const keys = isArmoured(bytes)
      ? await Promise.all(armouredBlocks(bytes).map((armoredKeys) => readKeys({ armoredKeys, config: weakAllowed })))
      : [await readKeys({ binaryKeys: bytes, config: weakAllowed })];
    return keys.flat().slice(0, maxKeys);
  } catch (error) {
    throw fault("has a key file without an OpenPGP key", error);
  }
}

const armouredBlocks = (bytes: Uint8Array): string[] =>
  new TextDecoder()
    .decode(bytes)
    .match(/-----BEGIN PGP PUBLIC KEY BLOCK-----[^]*?-----END PGP PUBLIC KEY BLOCK-----/g)
    ?.slice(0, maxKeys) ?? [];

function signerOf(signature: Signature, keyId: { toHex(): string }, keys: readonly Key[]): Signer {
  const key = keys.find((one) => one.getKeys().some((part) => part.getKeyID().toHex() === keyId.toHex()));
  const packet = signature.packets.find((one) => one.issuerKeyID.toHex() === keyId.toHex());
  if (!key || !packet?.created) throw fault("names a key that is not in the key file");
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
