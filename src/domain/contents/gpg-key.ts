import { readKey, readKeys, type Key } from "openpgp";
import { makeOnce } from "#domain/accounts/idempotency";
import { getOwnAppliance } from "#domain/appliances/appliance";
import { isText } from "#domain/configuration/rules";
import { Refusal } from "#domain/refusal";
import { whyCostly } from "#lib/repodata/key-limits";
import { maxKeyBytes, weakAllowed } from "#lib/repodata/signature";
import type { Database } from "#storage/db";
import {
  addGpgKey,
  deleteGpgKey,
  findGpgKey,
  findGpgKeyOfRequest,
  type GpgKey,
  type GpgKeyLimits,
} from "#storage/gpg-keys";

export interface GpgKeyRequest {
  name: string;
  target: GpgKey["target"];
  /** ASCII armour or binary. */
  key: Uint8Array;
  requestId?: string | undefined;
}

export async function getGpgKey(db: Database, applianceId: number, id: number): Promise<GpgKey> {
  const key = await findGpgKey(db, applianceId, id);
  if (!key) throw new Refusal("invalid_gpg_key_id", { reason: "unknown" });
  return key;
}

/** Adds a public key to the appliance, at most once. Builds import it into the image's keyring. */
export async function importGpgKey(
  db: Database,
  appliance: { id: number; accountId: number },
  request: GpgKeyRequest,
): Promise<GpgKey> {
  return await makeOnce(request.requestId, {
    find: (requestId) => findGpgKeyOfRequest(db, requestId),
    make: () => addKey(db, appliance, request),
  });
}

async function addKey(
  db: Database,
  appliance: { id: number; accountId: number },
  request: GpgKeyRequest,
): Promise<GpgKey> {
  const { name, target, requestId = null } = request;
  checkName(name);
  const { fingerprint, key } = await readPublicKey(request.key);
  const row = { applianceId: appliance.id, name, target, fingerprint, key, createdAt: new Date(), requestId };
  const added = await addGpgKey(db, row, limits);
  if (added === "known") throw new Refusal("key_already_exists");
  if (added) return added;
  await getOwnAppliance(db, appliance.accountId, appliance.id); // it may have been deleted
  throw new Refusal("unknown_error", { message: "The appliance has too many GPG keys: at most 100, and 4 MiB." });
}

export async function removeGpgKey(db: Database, applianceId: number, id: number): Promise<void> {
  if (!(await deleteGpgKey(db, applianceId, id))) throw new Refusal("invalid_gpg_key_id", { reason: "unknown" });
}

/**
 * A stored key, as armour that every version of rpm can read: no headers or other text, lines of equal length, and a
 * checksum.
 */
export const plainArmour = async (stored: string): Promise<string> =>
  (await readKey({ armoredKey: stored, config: weakAllowed })).armor();

export const gpgKeyTooLarge = () => invalidKey(`It is larger than ${maxKeyBytes / 1024} KiB`);

/** The limit for one appliance. */
export const maxKeys = 100;
const limits: GpgKeyLimits = { maxCount: maxKeys, maxCharacters: 4 * 2 ** 20 };

function checkName(name: string): void {
  if (/^(?=.*\S)[^\u0000-\u001f\u007f]{1,255}$/.test(name)) return;
  throw new Refusal("invalid_name", { message: "The name of a GPG key must be one line of at most 255 characters." });
}

/**
 * Checks that there is exactly one public key, and that rpm can use it. Returns it as it was sent, or as new armour if
 * it was binary. Expired keys are accepted, because old repositories are signed with them and rpm ignores the date.
 * Revoked keys are refused.
 */
export async function readPublicKey(bytes: Uint8Array): Promise<{ fingerprint: string; key: string }> {
  if (bytes.byteLength > maxKeyBytes) throw gpgKeyTooLarge();
  const keys = await parseKeys(bytes);
  const [key] = keys;
  if (!key) throw invalidKey("There is no key in it");
  if (keys.length > 1) throw invalidKey(`There are ${keys.length} keys in it: send one at a time`);
  if (key.isPrivate()) throw privateKey();
  const costly = whyCostly(key);
  if (costly !== undefined) throw invalidKey(`It ${costly}`);
  if (await isRevoked(key)) throw invalidKey("Its owner has revoked it");
  // Null for a key that is not revoked means that it has no user id with a valid self-signature.
  if ((await key.getExpirationTime(undefined, weakAllowed)) === null) {
    throw invalidKey("It has no valid self-signature: a part of it was changed, or is missing");
  }
  return { fingerprint: key.getFingerprint(), key: armourIn(bytes) ?? key.armor() };
}

/** The armour as text. Undefined if the key is binary, or if its text is invalid in XML. */
function armourIn(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("-----BEGIN PGP") && isText(text.replaceAll("\r\n", "\n")) ? text : undefined;
  } catch {
    return undefined;
  }
}

async function parseKeys(bytes: Uint8Array): Promise<Key[]> {
  const text = new TextDecoder().decode(bytes);
  const blocks = text.match(/-----BEGIN PGP [A-Z ]+-----/g) ?? [];
  if (blocks.some((block) => block.includes("PRIVATE"))) throw privateKey();
  if (blocks.length > 1) throw invalidKey(`There are ${blocks.length} blocks in it: send one key at a time`);
  try {
    return await (blocks.length === 1
      ? readKeys({ armoredKeys: text, config: weakAllowed })
      : readKeys({ binaryKeys: bytes, config: weakAllowed }));
  } catch {
    throw invalidKey("It is not an OpenPGP key, or it is damaged");
  }
}

const isRevoked = (key: Key): Promise<boolean> => key.isRevoked(undefined, undefined, new Date(), weakAllowed);

const invalidKey = (why: string) => new Refusal("invalid_key", { message: `This GPG key cannot be used. ${why}.` });

const privateKey = () =>
  invalidKey("It is a private key, which only its owner should have: send the public one (gpg --export --armor)");
