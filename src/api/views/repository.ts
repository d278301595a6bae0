import { publicUrl, type RepositoryMatches } from "#domain/repositories/repository";
import type { Repository } from "#storage/repositories";
import { arrayOf, type XmlFields, type XmlList } from "#wire/xml";

interface Viewer {
  baseUrl: string;
}

/** The element `repository` (wire.md §2.6); a user repository has no address that a client could read. */
export const repositoryFields = (repository: Repository, viewer: Viewer): XmlFields => ({
  id: repository.id,
  name: repository.name,
  type: repository.type,
  base_system: repository.baseSystem,
  base_url: publicUrl(repository, viewer.baseUrl),
});

export const repositoriesFields = (repositories: readonly Repository[], viewer: Viewer): XmlList =>
  arrayOf(
    "repository",
    repositories.map((repository) => repositoryFields(repository, viewer)),
  );

/** With what a filter found in each (wire.md §2.14). */
export const filteredFields = (
  found: readonly { repository: Repository; matches: RepositoryMatches }[],
  viewer: Viewer,
): XmlList =>
  arrayOf(
    "repository",
    found.map(({ repository, matches: { name, url, packages } }) => ({
      ...repositoryFields(repository, viewer),
      matches: { repository_name: name, repository_base_url: url, software_name: packages },
    })),
  );
