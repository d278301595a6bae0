import { sql, type SQL } from "drizzle-orm";
import type { Database } from "./db.ts";

/** The amounts per account that are limited, in addition to the bytes of its disk quota. */
export interface Counted {
  repositories: number;
  /** Packages in its repositories. */
  packages: number;
  repositoryBytes: number;
  appliances: number;
  configurationBytes: number;
  /** Overlay files of all its appliances. */
  files: number;
  /** RPMs, Debian packages and archives that the account has uploaded. */
  uploadedPackages: number;
  comments: number;
  webhooks: number;
  tokens: number;
  /** Unfinished uploads. */
  uploads: number;
}

/**
 * Counts each amount of an account, using indexes. Statements that must not exceed a limit use the same expressions.
 */
export const counts = {
  /** Does not count the user repositories: an account has one for each base system. */
  repositories: (accountId: number) =>
    sql`(SELECT count(*) FROM repositories WHERE account_id = ${accountId} AND is_user_repository = 0)`,
  packages: (accountId: number) => ofImports(sql`imports.package_count`, accountId),
  repositoryBytes: (accountId: number) => ofImports(sql`imports.bytes`, accountId),
  appliances: (accountId: number) => sql`(SELECT count(*) FROM appliances WHERE account_id = ${accountId})`,
  /** This index contains the lengths. With any other index, SQLite would read all configurations. */
  configurationBytes: (accountId: number) =>
    sql`(SELECT coalesce(sum(configuration_bytes), 0) FROM appliances AS one INDEXED BY appliances_configuration_bytes
         WHERE one.account_id = ${accountId})`,
  files: (accountId: number) =>
    sql`(SELECT count(*) FROM appliances AS one JOIN overlay_files AS file ON file.appliance_id = one.id
         WHERE one.account_id = ${accountId})`,
  uploadedPackages: (accountId: number) => sql`(SELECT count(*) FROM rpms AS one WHERE one.account_id = ${accountId})`,
  comments: (accountId: number) => sql`(SELECT count(*) FROM comments WHERE account_id = ${accountId})`,
  webhooks: (accountId: number) => sql`(SELECT count(*) FROM webhooks WHERE account_id = ${accountId})`,
  tokens: (accountId: number) => sql`(SELECT count(*) FROM tokens WHERE account_id = ${accountId})`,
  uploads: (accountId: number) =>
    sql`(SELECT count(*) FROM resumable_uploads WHERE account_id = ${accountId} AND finished_at IS NULL)`,
} satisfies Record<keyof Counted, (accountId: number) => SQL>;

/** Contents that two repositories of the account show count twice, because either repository may be deleted first. */
const ofImports = (column: SQL, accountId: number) =>
  sql`(SELECT coalesce(sum(${column}), 0) FROM repositories JOIN imports ON imports.id = repositories.import_id
       WHERE account_id = ${accountId})`;

export const countAll = (db: Database, accountId: number): Promise<Counted> =>
  db.get<Counted>(sql`SELECT
    ${counts.repositories(accountId)} AS repositories, ${counts.packages(accountId)} AS packages,
    ${counts.repositoryBytes(accountId)} AS repositoryBytes, ${counts.appliances(accountId)} AS appliances,
    ${counts.configurationBytes(accountId)} AS configurationBytes, ${counts.files(accountId)} AS files,
    ${counts.uploadedPackages(accountId)} AS uploadedPackages, ${counts.comments(accountId)} AS comments,
    ${counts.webhooks(accountId)} AS webhooks, ${counts.tokens(accountId)} AS tokens,
    ${counts.uploads(accountId)} AS uploads`);
