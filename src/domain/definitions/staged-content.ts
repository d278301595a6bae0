import { z } from "zod";
import type { IncomingFile } from "#domain/contents/incoming-file";
import { capAt } from "#domain/contents/upload-limit";
import { uploadTooLarge } from "#domain/contents/overlay-file-content";
import { withRoom } from "#domain/accounts/room";
import type { Services } from "#domain/services";
import { decrypt, encrypt, type EncryptionKey } from "#domain/secrets";
import { putBlob } from "#storage/blob-writer";
import { contentKey } from "#storage/blobs";
import type { FileContent } from "#storage/overlay-files";

/**
 * How long content that is stored before its definition stays valid. No row names it, and the client gets the encrypted
 * id of the blob. The sweep removes blobs without a row after an hour, so this time is shorter.
 */
const validMs = 45 * 60_000;

const StagedContent = z.object({
  accountId: z.number(),
  expiresAt: z.number(),
  content: z.object({ blobId: z.string(), size: z.number(), md5: z.string(), sha256: z.string() }),
});

/** Stores the bytes while they arrive. They count towards the quota until a definition names them or the sweep removes them. */
export async function storeContent(
  { env, db }: Services<EncryptionKey & Pick<Env, "BLOBS" | "MAX_UPLOAD_MB" | "ACCOUNT_QUOTA_GB">>,
  accountId: number,
  { body, expectedBytes }: Omit<IncomingFile, "fileName">,
): Promise<Pick<FileContent, "sha256" | "size"> & { upload: string }> {
  const content = await withRoom({ env, db }, { accountId, expectedBytes }, async (room) => {
    const cap = capAt(env, { room, tooLarge: uploadTooLarge });
    const stored = await putBlob(env.BLOBS, contentKey(room.blobId), body.pipeThrough(cap));
    await room.trim(stored.size);
    return { blobId: room.blobId, ...stored };
  });
  const staged = { accountId, expiresAt: Date.now() + validMs, content };
  const upload = await encrypt(env.API_KEY_ENCRYPTION_KEY, JSON.stringify(staged));
  return { sha256: content.sha256, size: content.size, upload };
}

/** Undefined if the content is too old or belongs to another account, or if this service did not encrypt the id. */
export async function findContent(
  env: EncryptionKey,
  accountId: number,
  upload: string,
): Promise<FileContent | undefined> {
  const plain = await decrypt(env.API_KEY_ENCRYPTION_KEY, upload).catch(() => undefined);
  if (plain === undefined) return undefined;
  const { success, data } = StagedContent.safeParse(JSON.parse(plain));
  return success && data.accountId === accountId && data.expiresAt > Date.now() ? data.content : undefined;
}
