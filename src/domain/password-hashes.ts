import type { Buffer } from "node:buffer";
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { encrypt as hashForShadow } from "unixcrypt";
import type { Configuration } from "#domain/configuration";

/** What servers and systems keep in place of passwords: frozen inputs have nothing else of them. */

/** SHA-512 crypt, for /etc/shadow. KIWI would hash plain passwords itself, with MD5 and a fixed salt. */
export const shadowHash = (password: string): string => hashForShadow(password);

const verifiers: Record<Configuration["databases"][number]["type"], (password: string) => string> = {
  pgsql: (password) => scramVerifier(password, randomBytes(16)),
  mysql: mysqlHash,
};

/** As `CREATE ROLE … PASSWORD` and `IDENTIFIED WITH mysql_native_password AS` take it. */
export const databaseVerifier = (type: Configuration["databases"][number]["type"], password: string): string =>
  verifiers[type](password);

const iterations = 4096; // as PostgreSQL itself does

/** RFC 5803, in PostgreSQL's words: `SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey`. Exported for RFC 7677's example. */
export function scramVerifier(password: string, salt: Buffer): string {
  const salted = pbkdf2Sync(password.normalize("NFKC"), salt, iterations, 32, "sha256");
  const keyOf = (whose: string) => createHmac("sha256", salted).update(whose).digest();
  const stored = createHash("sha256").update(keyOf("Client Key")).digest("base64");
  const server = keyOf("Server Key").toString("base64");
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${stored}:${server}`;
}

/** The hash of mysql_native_password, which MySQL to 8.3 and MariaDB know: twice SHA-1. */
function mysqlHash(password: string): string {
  return `*${sha1(sha1(password)).toString("hex").toUpperCase()}`;
}

function sha1(data: string | Buffer): Buffer {
  return createHash("sha1").update(data).digest();
}
