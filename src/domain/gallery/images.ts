import { withLinks, type LinkReader } from "#domain/builds/download-link";
import { getPublication } from "#domain/gallery/access";
import type { Build } from "#storage/builds";
import { listBuildsById } from "#storage/builds-of-appliance";
import type { Database } from "#storage/db";
import type { Publication } from "#storage/publications";

/** The images of a published version, with links for this reader. If there is no reader, they have no links. */
export async function imagesOf(
  db: Database,
  publication: Publication,
  reader: LinkReader | undefined,
): Promise<Build[]> {
  const images = await listBuildsById(
    db,
    publication.formats.map(({ buildId }) => buildId),
  );
  return reader
    ? withLinks(images, publication.accountId, reader)
    : images.map((one) => ({ ...one, downloadToken: "" }));
}

/** A published version with its images, for any account. */
export async function publishedImages(
  db: Database,
  reader: LinkReader,
  { applianceId, version }: { applianceId: number; version?: string | undefined },
): Promise<{ publication: Publication; images: Build[] }> {
  const publication = await getPublication(db, reader.account.id, { applianceId, version, reason: "invalid" });
  return { publication, images: await imagesOf(db, publication, reader) };
}
