import { RepodataFault } from "./fault.ts";
import { signingKeysOf, type SigningKey } from "./signature.ts";

const maxHints = 8;

/**
 * Fetches the keys that a signed index names in addition to its signer's. openSUSE names such keys, because its packages come
 * from several vendors. Like libzypp, reads `<tags><content>gpg-pubkey-39db7c82-5847eb1f.asc?fpr=22C07B…</content>` as a file at the
 * repository's root. Uses only the key with that fingerprint, and ignores a hint to a missing file.
 *
 * @param content the index's `<content>` words
 */
export async function hintedKeys(
  content: readonly string[],
  fetchKey: (path: string) => Promise<Uint8Array | undefined>,
): Promise<SigningKey[]> {
  const hints = content.flatMap((word) => {
    const [, path, fingerprint] =
      /^(gpg-pubkey-[0-9a-f]{8}-[0-9a-f]{8}\.asc)\?fpr=([0-9a-f]{40,64})$/i.exec(word) ?? [];
    return path && fingerprint ? [{ path, fingerprint: fingerprint.toLowerCase() }] : [];
  });
  const found = await Promise.all(
    hints.slice(0, maxHints).map(async ({ path, fingerprint }) => {
      const keys = await keysOf(await fetchKey(path));
      return keys.filter((key) => key.fingerprint === fingerprint);
    }),
  );
  return found.flat();
}

async function keysOf(bytes: Uint8Array | undefined): Promise<SigningKey[]> {
  if (!bytes) return [];
  return await signingKeysOf(bytes).catch((error: unknown) => {
    if (error instanceof RepodataFault) return [];
    throw error;
  });
}
