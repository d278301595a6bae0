/**
 * Expensive actions, and how often an account may do each of them in ten minutes. `ACCOUNT_RATES` overrides the
 * numbers.
 */
export const rates = {
  builds: 100,
  clones: 500,
  /** Files, packages, pictures, keys and configurations. */
  uploads: 3000,
  /** Files that the service downloads. */
  web_files: 300,
  repositories: 60,
  /** Changes of a selection. Each one is resolved. */
  software: 3000,
  /** Changes of a selection that are only simulated. */
  effects: 6000,
  publications: 100,
  testdrives: 100,
  /** Files read from an image, or from the disk of a testdrive. */
  image_files: 3000,
  modified_files: 300,
  differences: 300,
  /**
   * Searches, statuses, lists of packages that will be installed or have newer versions, attestations, and drafts of
   * release notes.
   */
  reads: 6000,
  /** Webhooks created, and deliveries sent again. */
  webhooks: 300,
} as const;

export type Rated = keyof typeof rates;

/** The same in a day: packages that an account's imports read, and its rebuilds. */
export const dailyRates = { packages_a_day: 2_000_000, rebuilds_a_day: 100 } as const;
