import type { ArtifactName, OpenUpload } from "#lib/contract/index";
import type { StoredArtifact } from "#domain/builds/record";
import type { Database } from "#storage/db";
import { shareFileStore } from "#storage/file-stores";

/**
 * Gives a running build an artifact that another format of its version has, so that it is not uploaded again. Only file
 * stores can be equal, and only an agent that states its digests can have one. Undefined if there is none.
 */
export async function shareArtifact(
  db: Database,
  uid: string,
  { name, size, digests }: { name: ArtifactName } & Pick<OpenUpload, "size" | "digests">,
): Promise<StoredArtifact | undefined> {
  if (name !== "files" || size === undefined || !digests) return undefined;
  const key = await shareFileStore(db, uid, { sha256: digests.sha256, size });
  return key === undefined ? undefined : { ...digests, size, key };
}
