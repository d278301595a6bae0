import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { Arch, FrozenKey } from "#lib/contract/index";
import { repositoryPurposes, type BaseSystemFacts, type RepositorySnapshots } from "#model/catalogue";
import type { ImportProgress } from "#model/import-progress";
import type { StoredPackage } from "#model/stored-package";
import { accounts } from "./accounts.ts";
import { id, moment, uid, requestId } from "./columns.ts";

/**
 * Facts about a distribution from a template catalogue, such as its kernel and boot loader packages, and how KIWI
 * bootstraps it.
 */
export const baseSystems = sqliteTable("base_systems", {
  name: text("name").primaryKey(),
  catalogue: text("catalogue").notNull(),
  facts: text("facts", { mode: "json" }).notNull().$type<BaseSystemFacts>(),
});

/** Repositories from catalogues and from users, and the user repositories made of users' uploads. */
export const repositories = sqliteTable(
  "repositories",
  {
    id: id(),
    uid: uid(),
    /**
     * The account that imported the repository, and alone sees it. Null for a catalogue's repository, which everyone
     * sees.
     */
    accountId: integer("account_id").references(() => accounts.id),
    name: text("name").notNull(),
    /**
     * http(s) URL, or `service:/repositories/…` for a repository in the service's own R2. For deb, see
     * #lib/repodata/apt-address.
     */
    url: text("url").notNull(),
    type: text("type", { enum: ["rpm-md", "yast2", "deb"] }).notNull(),
    baseSystem: text("base_system").notNull(),
    /** Architectures that the packages are built for, e.g. ["x86_64"]. */
    arches: text("arches", { mode: "json" }).notNull().$type<Arch[]>(),
    /** zypper's priority: the lower number wins. */
    priority: integer("priority").notNull().default(99),
    /** The repository's purpose in its distribution; null if the catalogue states none. */
    purpose: text("purpose", { enum: repositoryPurposes }),
    /** The template catalogue that lists the repository; null if a user added it. */
    catalogue: text("catalogue"),
    /** Whether it is made from the account's own uploads for its base system. */
    isUserRepository: integer("is_user_repository", { mode: "boolean" }).notNull().default(false),
    importState: text("import_state", { enum: ["ready", "importing", "failed"] })
      .notNull()
      .default("importing"),
    /** The progress of the import in progress; null if no import is reading packages. */
    importProgress: text("import_progress", { mode: "json" }).$type<ImportProgress>(),
    /** SHA-256 of the index of the last good import; null if there was none. */
    revision: text("revision"),
    /** Keys in R2 of that import's .solv files, in the order in which the solver loads them. */
    parts: text("parts", { mode: "json" }).notNull().$type<string[]>().default([]),
    /** The last good import. Other repositories may show it too. */
    importId: text("import_id"),
    packageCount: integer("package_count").notNull().default(0),
    /** The folder below `url` that the locations of packages are relative to: e.g. `suse` in yast2; empty in rpm-md. */
    packagesFolder: text("packages_folder").notNull().default(""),
    /** How to find the permanent URL of a snapshot of the repository; null if the catalogue has no such rule. */
    snapshots: text("snapshots", { mode: "json" }).$type<RepositorySnapshots>(),
    /** The snapshot's URL for the last good import; null if unknown. */
    snapshotUrl: text("snapshot_url"),
    /** Fingerprint of the key that signed the index; every later import must be signed by it. */
    signer: text("signer"),
    /**
     * The public keys next to that signature, or the given ones for deb. Null if there are none, or if the last good
     * import was made before keys were stored.
     */
    signingKeys: text("signing_keys", { mode: "json" }).$type<FrozenKey[]>(),
    /** Whether the owner has chosen to accept an expired index. */
    acceptsExpired: integer("accepts_expired", { mode: "boolean" }).notNull().default(false),
    /** The tag from R2 or the mirror for the version of the index that was checked last. */
    indexTag: text("index_tag"),
    /** The last import that began, whether it has ended or not, and when. No other import may write its results. */
    checkId: text("check_id"),
    checkedAt: moment("checked_at"),
    importedAt: moment("imported_at"),
    /** Why the last check failed. The last good revision stays. */
    problem: text("problem"),
  },
  (table) => [
    uniqueIndex("repositories_catalogue_url").on(table.catalogue, table.url),
    uniqueIndex("repositories_account_url").on(table.accountId, table.url),
    uniqueIndex("repositories_user")
      .on(table.accountId, table.baseSystem)
      .where(sql`is_user_repository = 1`),
    index("repositories_users")
      .on(table.id)
      .where(sql`is_user_repository = 1`),
    index("repositories_import").on(table.importId),
    index("repositories_url").on(table.url),
    index("repositories_failed")
      .on(table.importState)
      .where(sql`import_state = 'failed'`),
    index("repositories_checked")
      .on(table.checkedAt)
      .where(sql`url NOT LIKE 'service:%'`),
    index("repositories_problem")
      .on(table.id)
      .where(sql`problem IS NOT NULL`),
  ],
);

/**
 * The packages read from one revision of one URL, stored once for all repositories that show it. The row is written
 * before the first package and the first part, so that nothing of a killed import is overlooked.
 */
export const imports = sqliteTable(
  "imports",
  {
    id: text("id").primaryKey(),
    url: text("url").notNull(),
    revision: text("revision").notNull(),
    begunAt: moment("begun_at").notNull(),
    /** When the import was complete; null while it is being made or removed. */
    madeAt: moment("made_at"),
    /** How long it took to read the contents, without the downloads. */
    workMs: integer("work_ms").notNull().default(0),
    /** Keys in R2, in the order in which the solver loads them. */
    parts: text("parts", { mode: "json" }).notNull().$type<string[]>().default([]),
    packageCount: integer("package_count").notNull().default(0),
    /** The bytes of the texts in the import's rows. */
    bytes: integer("bytes").notNull().default(0),
    /** The architectures that the packages are built for. */
    arches: text("arches", { mode: "json" }).notNull().$type<Arch[]>().default([]),
    /** The base system of this service that the packages are for; null if there is none. */
    baseSystem: text("base_system"),
  },
  (table) => [
    uniqueIndex("imports_made")
      .on(table.url, table.revision)
      .where(sql`made_at IS NOT NULL`),
  ],
);

/**
 * The contents of a catalogue's repository before one of its imports, if it showed them at midnight (UTC). The .solv
 * files of these imports stay in R2, so that images can be built from the repository as of that day.
 */
export const repositoryStates = sqliteTable(
  "repository_states",
  {
    id: id(),
    repositoryId: integer("repository_id").notNull(),
    importId: text("import_id").notNull(),
    revision: text("revision").notNull(),
    parts: text("parts", { mode: "json" }).notNull().$type<string[]>(),
    packagesFolder: text("packages_folder").notNull(),
    snapshotUrl: text("snapshot_url"),
    signer: text("signer"),
    signingKeys: text("signing_keys", { mode: "json" }).$type<FrozenKey[]>(),
    importedAt: moment("imported_at").notNull(),
    replacedAt: moment("replaced_at").notNull(),
  },
  (table) => [
    index("repository_states_repository").on(table.repositoryId, table.replacedAt),
    index("repository_states_import").on(table.importId),
    index("repository_states_replaced").on(table.replacedAt),
  ],
);

/**
 * Uploaded RPM or Debian packages, and archives of such packages. All of them together make up a user repository. Their
 * headers are stored next to them in R2.
 */
export const rpms = sqliteTable(
  "rpms",
  {
    id: id(),
    accountId: integer("account_id")
      .notNull()
      .references(() => accounts.id),
    baseSystem: text("base_system").notNull(),
    fileName: text("file_name").notNull(),
    size: integer("size").notNull(),
    md5: text("md5").notNull(),
    sha256: text("sha256").notNull(),
    /** The prefix in R2 of everything that belongs to this upload. */
    blobId: text("blob_id").notNull().unique(),
    /** The bytes of everything below that prefix. For an archive, this includes its packages. */
    storedBytes: integer("stored_bytes").notNull(),
    isArchive: integer("is_archive", { mode: "boolean" }).notNull().default(false),
    /**
     * Name, version and architecture of a single package, including its epoch; not set for an archive. A new upload
     * replaces an earlier one with the same value.
     */
    nevra: text("nevra"),
    packages: text("packages", { mode: "json" }).notNull().$type<StoredPackage[]>(),
    /**
     * When this content was uploaded. If two uploads contain the same package, the repository has that of the later
     * upload.
     */
    uploadedAt: moment("uploaded_at").notNull(),
    requestId: requestId(),
  },
  (table) => [
    index("rpms_account").on(table.accountId, table.baseSystem),
    uniqueIndex("rpms_nevra").on(table.accountId, table.baseSystem, table.nevra),
  ],
);
