import { publicUrl } from "#documents/repository";
import type { Repository } from "#storage/repositories";
import { arrayOf, type XmlList } from "#wire/xml";

interface Viewer {
  baseUrl: string;
}

/** The element `repository` (wire.md §2.6); a user repository has no address that a client could read. */
export const repositoriesFields = (repositories: readonly Repository[], viewer: Viewer): XmlList =>
  arrayOf(
    "repository",
    repositories.map(({ id, name, type, baseSystem, url }) => ({
      id,
      name,
      type,
      base_system: baseSystem,
      base_url: publicUrl(url, viewer.baseUrl),
    })),
  );
