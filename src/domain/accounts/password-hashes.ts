import { Buffer } from "node:buffer";
import { createHash, createHmac, pbkdf2Sync } from "node:crypto";
import { encrypt as hashForShadow, verify as matchesShadow } from "unixcrypt";
import { firstOf, type EncryptionKey } from "#domain/secrets";
import type { Configuration } from "#lib/configuration/stored";

/* Hashes that servers and systems store instead of passwords. Frozen inputs contain only these hashes. */

/** Returns the salt of one password of a user: 16 bytes. */
export type PasswordHasher = (user: string, password: string) => Buffer;

/**
 * Salts for an appliance's passwords. The same password of the same user always gets the same salt, so that all formats
 * of a version are frozen with the same hash. Without the service's key a salt cannot be predicted, and no two
 * appliances share one.
 */
export const saltingOf =
  ({ API_KEY_ENCRYPTION_KEY: keys }: EncryptionKey, applianceId: number): PasswordHasher =>
  (user, password) =>
    createHmac("sha256", Buffer.from(firstOf(keys), "base64"))
      .update(JSON.stringify(["salt of a password in an image", applianceId, user, password]))
      .digest()
      .subarray(0, 16);

/** SHA-512 crypt, for /etc/shadow. KIWI itself would hash plain passwords with MD5 and a fixed salt. */
export const shadowHash = (password: string, salt: Buffer): string => hashForShadow(password, `$6$${cryptText(salt)}`);

export const isShadowHashOf = (password: string, hash: string): boolean => hash !== "" && matchesShadow(password, hash);

/** At most 16 characters of crypt's alphabet. */
const cryptText = (salt: Buffer): string => salt.toString("base64").slice(0, 16).replaceAll("+", ".");

/** Verifiers for `CREATE ROLE … PASSWORD` and `IDENTIFIED WITH mysql_native_password AS`. */
export const databaseVerifiers: Record<
  Configuration["databases"][number]["type"],
  (password: string, salt: Buffer) => string
> = {
  pgsql: scramVerifier,
  mysql: mysqlHash,
};

const iterations = 4096; // PostgreSQL's own default

/**
 * RFC 5803, in PostgreSQL's format: `SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey`. Exported for RFC 7677's
 * example.
 */
export function scramVerifier(password: string, salt: Buffer): string {
  const salted = pbkdf2Sync(password.normalize("NFKC"), salt, iterations, 32, "sha256");
  const keyOf = (whose: string) => createHmac("sha256", salted).update(whose).digest();
  const stored = createHash("sha256").update(keyOf("Client Key")).digest("base64");
  const server = keyOf("Server Key").toString("base64");
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${stored}:${server}`;
}

/** The hash of mysql_native_password, which MySQL up to 8.3 and MariaDB support: SHA-1 twice. */
function mysqlHash(password: string): string {
  return `*${sha1(sha1(password)).toString("hex").toUpperCase()}`;
}

function sha1(data: string | Buffer): Buffer {
  return createHash("sha1").update(data).digest();
}
