import type { FrozenInput } from "#lib/contract/index";
import type { Services } from "#domain/services";
import { uploadsIn } from "#domain/repositories/user-repository";
import { contentKey } from "#storage/blobs";
import { isFrozenFor } from "#storage/frozen-blobs";

/** The blobs of uploaded packages, and of an appliance's own files and pictures, that a build needs. */
export const blobsIn = (input: Pick<FrozenInput, "repositories" | "packages" | "files">): string[] => [
  ...uploadsIn(input),
  ...new Set((input.files ?? []).map(({ blobId }) => blobId)),
];

/**
 * The content of a file in a build. The appliance may no longer have the file. Undefined if the build was frozen
 * without it.
 */
export async function findFrozenContent(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  { buildId, blobId }: { buildId: number; blobId: string },
): Promise<R2ObjectBody | undefined> {
  if (!(await isFrozenFor(db, buildId, blobId))) return undefined;
  return (await env.BLOBS.get(contentKey(blobId))) ?? undefined;
}
