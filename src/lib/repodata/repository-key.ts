import { Buffer } from "node:buffer";
import {
  config,
  createCleartextMessage,
  createMessage,
  readPrivateKey,
  reformatKey,
  sign,
  type Config,
  type PrivateKey,
} from "openpgp";
import { ed25519Of } from "#lib/attest/signing-key";

/** The key that signs a repository which Kiln writes. */
export interface RepositoryKey {
  /** 40 hex digits. */
  fingerprint: string;
  /** The public half. */
  armour: string;
  /**
   * The text with its signature around it, as in Debian's InRelease. The same text at the same time gives the same
   * bytes.
   */
  signAround: (text: string, at: Date) => Promise<string>;
  /** A signature in a separate file, as next to repomd.xml. */
  signBeside: (bytes: Uint8Array, at: Date) => Promise<string>;
}

const userId = "Kiln packages";
/** A part of the fingerprint, so it must never change. */
const createdAt = new Date("2026-01-01T00:00:00Z");

const settings: Config = { ...config, nonDeterministicSignaturesViaNotation: false };

/** The OpenPGP key of a seed of 32 bytes. The same seed always gives the same key. */
export async function openRepositoryKey(seed: Uint8Array<ArrayBuffer>): Promise<RepositoryKey> {
  const { x } = await ed25519Of(seed);
  const bare = await readPrivateKey({ binaryKey: bareKey(seed, Buffer.from(x, "base64url")) });
  const userIDs = [{ name: userId }];
  const asked = { privateKey: bare, userIDs, date: createdAt, format: "object", config: settings } as const;
  const { privateKey, publicKey } = await reformatKey(asked);
  return {
    fingerprint: publicKey.getFingerprint(),
    armour: publicKey.armor(),
    signAround: async (text, at) =>
      await sign({ message: await createCleartextMessage({ text }), ...by(privateKey, at) }),
    signBeside: async (binary, at) =>
      await sign({ message: await createMessage({ binary }), detached: true, ...by(privateKey, at) }),
  };
}

const by = (signingKeys: PrivateKey, date: Date) => ({ signingKeys, date, config: settings });

/**
 * A secret key and its user id, not signed yet (RFC 9580, 5.5.3). EdDSA in its older form, because gpgv in Debian 12
 * knows no other.
 */
function bareKey(seed: Uint8Array, point: Uint8Array): Uint8Array {
  const secret = multiprecision(seed);
  const checksum = secret.reduce((sum, byte) => sum + byte, 0) % 0x1_0000;
  const version = 4;
  const eddsa = 22;
  const isInClear = 0;
  const nativePoint = Buffer.concat([Buffer.of(0x40), point]);
  const parts = [
    Buffer.of(version),
    bigEndian(createdAt.getTime() / 1000, 4),
    Buffer.of(eddsa, curve.byteLength),
    curve,
    multiprecision(nativePoint),
    Buffer.of(isInClear),
    secret,
    bigEndian(checksum, 2),
  ];
  return Buffer.concat([packet(5, Buffer.concat(parts)), packet(13, Buffer.from(userId))]);
}

/** The object identifier of Ed25519 in keys of version 4. */
const curve = Buffer.from("2b06010401da470f01", "hex");

/** Shorter than 192 bytes. */
const packet = (tag: number, body: Uint8Array) => Buffer.concat([Buffer.of(0xc0 | tag, body.byteLength), body]);

/** A number without leading zeros, after its length in bits. */
function multiprecision(bytes: Uint8Array): Buffer {
  const digits = bytes.subarray(bytes.findIndex((byte) => byte !== 0));
  const bits = digits.byteLength * 8 - (Math.clz32(digits[0] ?? 0) - 24);
  return Buffer.concat([bigEndian(bits, 2), digits]);
}

function bigEndian(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
}
