/** How far the import of a repository has come. */
export interface ImportProgress {
  /** The number of packages that were read. */
  packages: number;
  /** The percentage of the bytes of their lists; null if the index does not state their size. */
  percent: number | null;
}

/** The progress as users read it, after the name of the repository. */
export const progressWords = ({ packages, percent }: ImportProgress): string =>
  `${packages} packages read${percent === null ? "" : `, ${percent} %`}`;

/** The repositories that were never imported, as users read them. Undefined if there are none. */
export const unimportedWords = (
  repositories: readonly { name: string; importProgress: ImportProgress | null }[],
): string | undefined =>
  repositories
    .map(({ name, importProgress }) => (importProgress ? `${name} (${progressWords(importProgress)})` : name))
    .join(", ") || undefined;
