/** How far the import of a repository has come. */
export interface ImportProgress {
  /** Packages that were read. */
  packages: number;
  /** Of the bytes of their lists; null: the index does not say how many there are. */
  percent: number | null;
}

/** For people, after the name of the repository. */
export const progressWords = ({ packages, percent }: ImportProgress): string =>
  `${packages} packages read${percent === null ? "" : `, ${percent} %`}`;

/** Those that were never imported, for people. Undefined: there is none. */
export const unimportedWords = (
  repositories: readonly { name: string; importProgress: ImportProgress | null }[],
): string | undefined =>
  repositories
    .map(({ name, importProgress }) => (importProgress ? `${name} (${progressWords(importProgress)})` : name))
    .join(", ") || undefined;
