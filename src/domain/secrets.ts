import { Buffer } from "node:buffer";
import { createHmac, randomBytes, randomInt, scrypt, timingSafeEqual } from "node:crypto";

/** Keys, passwords and tokens are created, stored and compared here. */

const encoder = new TextEncoder();

/** An unguessable token of 192 bits, safe in URLs and headers. */
export const newToken = (): string => randomBytes(24).toString("base64url");

// Characters that people confuse are left out.
const letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/** `length` random letters and digits; an API key has 20 (116 bits). */
export const newPassword = (length: number): string =>
  Array.from({ length }, () => letters[randomInt(letters.length)]).join("");

/** HMAC-SHA-256 with the service's pepper, as hex. It is used to find secrets that are not stored. */
export const keyedHash = (pepper: string, secret: string): string =>
  createHmac("sha256", pepper).update(secret).digest("hex");

/** 32 bytes that only the holder of the key can derive, different for each purpose. */
export const derivedBytes = (key: string, purpose: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(createHmac("sha256", key).update(purpose).digest());

/**
 * Encrypts with AES-GCM and the first of the service's keys, each of which is base64 of 32 bytes. The nonce comes
 * before the cipher text.
 */
export async function encrypt(encryptionKeys: string, plain: string): Promise<string> {
  const iv = randomBytes(12);
  const key = await aesKey(firstOf(encryptionKeys));
  const cipher = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, encoder.encode(plain));
  return Buffer.concat([iv, Buffer.from(cipher)]).toString("base64");
}

/** Tries each of the keys, because the operator may have added a new one before the old one. */
export async function decrypt(encryptionKeys: string, cipher: string): Promise<string> {
  const bytes = Buffer.from(cipher, "base64");
  const algorithm = { name: "AES-GCM", iv: bytes.subarray(0, 12) };
  const tries = keysIn(encryptionKeys).map(async (key) =>
    crypto.subtle.decrypt(algorithm, await aesKey(key), bytes.subarray(12)),
  );
  const plain = await Promise.any(tries).catch((error: AggregateError) => Promise.reject(error.errors[0]));
  return new TextDecoder().decode(plain);
}

/**
 * Encrypts a secret again with the first of the keys. If that key encrypted it already, the text stays the same. Fails
 * if no key can decrypt it.
 */
export async function encryptAgain(encryptionKeys: string, cipher: string): Promise<string> {
  const isCurrent = await decrypt(firstOf(encryptionKeys), cipher).then(
    () => true,
    () => false,
  );
  return isCurrent ? cipher : await encrypt(encryptionKeys, await decrypt(encryptionKeys, cipher));
}

/** The key that encrypts. */
export const firstOf = (encryptionKeys: string): string => keysIn(encryptionKeys)[0] ?? "";
/** All keys that decrypt, the one that encrypts first. */
export const keysIn = (encryptionKeys: string): string[] => encryptionKeys.split(" ");

/** The prefix of a secret that is stored in a row, encrypted with AES-GCM. Older rows contain secrets in clear text. */
const mark = "sealed:";
/** A nonce, a tag and at least one byte are 29 bytes. */
const encryptedSecret = /^sealed:([A-Za-z0-9+/]{38,}={0,2})$/;

/** The Worker variable with the keys that encrypt secrets in rows. */
export interface EncryptionKey {
  API_KEY_ENCRYPTION_KEY: string;
}

export const isEncrypted = (stored: string): boolean => encryptedSecret.test(stored);

export const encryptSecret = async (env: EncryptionKey, clear: string): Promise<string> =>
  mark + (await encrypt(env.API_KEY_ENCRYPTION_KEY, clear));

export async function decryptSecret(env: EncryptionKey, stored: string): Promise<string> {
  const [, cipher] = encryptedSecret.exec(stored) ?? [];
  return cipher === undefined ? stored : await decrypt(env.API_KEY_ENCRYPTION_KEY, cipher);
}

/** Encrypts a stored secret with the first of the keys. A text in clear stays as it is. */
export async function encryptSecretAgain(env: EncryptionKey, stored: string): Promise<string> {
  const [, cipher] = encryptedSecret.exec(stored) ?? [];
  return cipher === undefined ? stored : mark + (await encryptAgain(env.API_KEY_ENCRYPTION_KEY, cipher));
}

/**
 * Compares two secrets in constant time, so that the duration does not reveal where they differ. Their lengths are not
 * secret.
 */
export function sameSecret(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}

/**
 * Masks a secret in hexadecimal digits with a random pad, which is put before it. The text is different each time, so
 * that the length of a compressed answer does not reveal the secret (BREACH).
 */
export function masked(secret: string): string {
  const bytes = Buffer.from(secret, "hex");
  const pad = randomBytes(bytes.byteLength);
  return Buffer.concat([pad, xored(bytes, pad)]).toString("hex");
}

/** The secret in a masked text. For any other text, the result matches no secret. */
export function unmasked(text: string): string {
  const bytes = Buffer.from(text, "hex");
  const half = bytes.byteLength >> 1;
  return Buffer.from(xored(bytes.subarray(half), bytes)).toString("hex");
}

const xored = (bytes: Uint8Array, pad: Uint8Array): Uint8Array => bytes.map((byte, at) => byte ^ (pad[at] ?? 0));

// OWASP's scrypt parameters. A hash needs 32 MiB for a moment, a quarter of the isolate's memory.
const scryptCost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

/** `salt$hash`, both base64: scrypt with N=2^15, r=8, p=1. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  return `${salt.toString("base64")}$${(await scryptOf(password, salt)).toString("base64")}`;
}

/** A hash that matches no password. Checking it takes as long as checking a real one. */
export const hashOfNone = `${"A".repeat(22)}==$none`;

export async function passwordMatches(password: string, stored: string): Promise<boolean> {
  const [salt = "", hash = ""] = stored.split("$");
  return sameSecret((await scryptOf(password, Buffer.from(salt, "base64"))).toString("base64"), hash);
}

const scryptOf = (password: string, salt: Buffer) =>
  new Promise<Buffer>((resolve, reject) => {
    scrypt(password, salt, 32, scryptCost, (error, key) => (error ? reject(error) : resolve(key)));
  });

const aesKey = (base64: string) =>
  crypto.subtle.importKey("raw", Buffer.from(base64, "base64"), "AES-GCM", false, ["encrypt", "decrypt"]);
