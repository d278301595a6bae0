import { RepodataFault } from "./fault.ts";
import { signingKeysOf, type SigningKey } from "./signature.ts";

const mostHints = 8;

/**
 * Keys that a signed index names beside its own signer's, as openSUSE's do, whose packages come from several makers: libzypp
 * takes `<tags><content>gpg-pubkey-39db7c82-5847eb1f.asc?fpr=22C07B…</content>` for a file at the repository's root. Only the
 * key of that fingerprint counts; a hint that leads nowhere is none.
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
    hints.slice(0, mostHints).map(async ({ path, fingerprint }) => {
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
