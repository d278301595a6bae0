import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { uploadedPackageKey, uploadsIn } from "#domain/repositories/user-repository";
import { contentKey } from "#storage/blobs";
import { findInput } from "#storage/build-blobs";
import type { Build } from "#storage/builds";
import type { Database } from "#storage/db";
import { findPublishedImage } from "#storage/visible-builds";

/*
 * Anyone may build a published image again, to compare it, so anyone may read the input that it was built from. A clone
 * contains all of that too, so the input is not available if the publisher does not allow cloning (decision 26).
 */

/** A published build, whose input everyone may read. Undefined if it is not published. */
export async function openPublishedBuild(db: Database, id: number): Promise<Build | undefined> {
  const found = await findPublishedImage(db, id);
  if (!found || found.isClonable) return found?.build;
  const message = "The publisher does not allow cloning, so only the image is public, and not what it was built from.";
  throw new Refusal("access_denied", { message });
}

type Stored = Services<Pick<Env, "BLOBS">>["env"];
type Frozen = Pick<Build, "inputSha256">;

/** The key in R2 of one of the appliance's own files. Undefined if the build was frozen without it. */
export async function publishedContentKey(env: Stored, build: Frozen, blobId: string): Promise<string | undefined> {
  const input = await findInput(env.BLOBS, build.inputSha256);
  return input?.files?.some((file) => file.blobId === blobId) ? contentKey(blobId) : undefined;
}

/** The key in R2 of a package that the owner had uploaded. Undefined if the build was frozen without it. */
export async function publishedUploadKey(
  env: Stored,
  build: Frozen,
  { blobId, number }: { blobId: string; number: number },
): Promise<string | undefined> {
  const input = await findInput(env.BLOBS, build.inputSha256);
  const isFrozen = input?.packages.some(({ location }) => location.startsWith(`packages/${blobId}/${number}/`));
  return input && isFrozen && uploadsIn(input).includes(blobId)
    ? await uploadedPackageKey(env, { blobId, number })
    : undefined;
}
