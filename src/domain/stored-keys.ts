import { passwordsEncryptedAgain } from "#domain/configuration/secrets";
import type { Services } from "#domain/services";
import { decrypt, encryptAgain, keyedHash, encryptSecretAgain, type EncryptionKey } from "#domain/secrets";
import { Configuration } from "#lib/configuration/stored";
import type { Database } from "#storage/db";
import {
  countEncrypted,
  encryptedColumns,
  pageOfEncrypted,
  saveApiKeyHmacs,
  saveEncrypted,
  type EncryptedColumn,
  type EncryptedValue,
  type WalkCursor,
} from "#storage/encrypted";

/*
 * Updates stored values after an operator has replaced one of the service's keys, one page per call. Repeating a call
 * changes nothing, so a walk can be restarted at any time.
 */

/** The result of a call. `next` is where the next call continues, or null at the end. */
interface WalkedPage {
  changed: number;
  /** Values that no key of the service can decrypt. */
  unreadable: { column: EncryptedColumn; row: number }[];
  left: number;
  next: WalkCursor | null;
}

/** Small enough that the statements of one call stay within the limit of an invocation. */
const pageSize = 100;

/** Encrypts values with the first key if another key encrypted them. */
export async function reencryptPage(
  { env, db }: Services<EncryptionKey>,
  services: WalkCursor = { column: "API keys", after: 0 },
): Promise<WalkedPage> {
  return await walk(db, { services, columns: encryptedColumns }, async (values) => {
    const read = await readable(values, async ({ stored }) => ({ again: await encryptedAgain(env, services, stored) }));
    const changed = read.filter(({ stored, again }) => again !== stored);
    await saveEncrypted(db, services.column, changed);
    return { changed: changed.length, read };
  });
}

/**
 * Computes the HMACs for finding API keys, with the current pepper. Only the HMACs of tokens and sessions are stored,
 * so these stay lost.
 */
export async function rehashPage(
  { env, db }: Services<EncryptionKey & Pick<Env, "API_KEY_PEPPER">>,
  services: WalkCursor = { column: "API keys", after: 0 },
): Promise<WalkedPage> {
  return await walk(db, { services, columns: ["API keys"] }, async (values) => {
    const read = await readable(values, async ({ stored }) => ({
      hmac: keyedHash(env.API_KEY_PEPPER, await decrypt(env.API_KEY_ENCRYPTION_KEY, stored)),
    }));
    return { changed: await saveApiKeyHmacs(db, read), read };
  });
}

async function walk(
  db: Database,
  { services, columns }: { services: WalkCursor; columns: readonly EncryptedColumn[] },
  change: (values: EncryptedValue[]) => Promise<{ changed: number; read: EncryptedValue[] }>,
): Promise<WalkedPage> {
  const { column } = services;
  const values = await pageOfEncrypted(db, services, pageSize);
  const { changed, read } = await change(values);
  const readRows = new Set(read.map(({ row }) => row));
  const unreadable = values.filter(({ row }) => !readRows.has(row)).map(({ row }) => ({ column, row }));
  const last = values.length < pageSize ? undefined : values.at(-1);
  const ahead = columns.slice(columns.indexOf(column) + 1).map((one) => ({ column: one, after: 0 }));
  const places = last ? [{ column, after: last.row }, ...ahead] : ahead;
  const [next = null] = places;
  return { changed, unreadable, left: next ? await countEncrypted(db, places) : 0, next };
}

/** The values, except those that no key can decrypt. */
async function readable<T>(
  values: readonly EncryptedValue[],
  read: (value: EncryptedValue) => Promise<T>,
): Promise<(EncryptedValue & T)[]> {
  const tried = values.map((value) =>
    read(value).then(
      (found) => [{ ...value, ...found }],
      () => [],
    ),
  );
  return (await Promise.all(tried)).flat();
}

async function encryptedAgain(env: EncryptionKey, { column }: WalkCursor, stored: string): Promise<string> {
  if (column === "API keys" || column === "secrets of webhooks") {
    return await encryptAgain(env.API_KEY_ENCRYPTION_KEY, stored);
  }
  if (column !== "configurations") return await encryptSecretAgain(env, stored);
  const before = Configuration.parse(JSON.parse(stored));
  const after = JSON.stringify(await passwordsEncryptedAgain(env, before));
  // If only newer fields are missing, the row is not written.
  return after === JSON.stringify(before) ? stored : after;
}
