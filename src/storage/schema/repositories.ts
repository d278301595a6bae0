import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { Arch, FrozenKey } from "#lib/contract/index";
import { repositoryPurposes, type BaseSystemFacts, type RepositorySnapshots } from "#model/catalogue";
import type { ImportProgress } from "#model/import-progress";
import type { StoredPackage } from "#model/stored-package";
import { accounts } from "./accounts.ts";
import { id, moment, uid, requestId } from "./columns.ts";

/** What a template catalogue says of a distribution: its kernel and boot loader packages, how KIWI bootstraps it. */
export const baseSystems = sqliteTable("base_systems", {
  name: text("name").primaryKey(),
  catalogue: text("catalogue").notNull(),
  facts: text("facts", { mode: "json" }).notNull().$type<BaseSystemFacts>(),
});

/** Repositories of the catalogues, of people, and the user repositories made of their uploads. */
export const repositories = sqliteTable(
  "repositories",
  {
    id: id(),
    uid: uid(),
    /** Who imported it, and alone sees it; null: everyone's, brought by a catalogue. */
    accountId: integer("account_id").references(() => accounts.id),
    name: text("name").notNull(),
    /** http(s) address, or `service:/repositories/…` for one in the service's own R2. Of deb: #lib/repodata/apt-address. */
    url: text("url").notNull(),
    type: text("type", { enum: ["rpm-md", "yast2", "deb"] }).notNull(),
    baseSystem: text("base_system").notNull(),
    /** Architectures its packages are built for, e.g. ["x86_64"]. */
    arches: text("arches", { mode: "json" }).notNull().$type<Arch[]>(),
    /** zypper's: the lower number wins. */
    priority: integer("priority").notNull().default(99),
    /** What it is to its distribution, as the catalogue says; null: the catalogue does not say. */
    purpose: text("purpose", { enum: repositoryPurposes }),
    /** The template catalogue that brought it; null: a person did. */
    catalogue: text("catalogue"),
    /** Made of the account's own uploads for its base system. */
    isUserRepository: integer("is_user_repository", { mode: "boolean" }).notNull().default(false),
    importState: text("import_state", { enum: ["ready", "importing", "failed"] })
      .notNull()
      .default("importing"),
    /** How far the import has come that is running; null: none reads packages at the moment. */
    importProgress: text("import_progress", { mode: "json" }).$type<ImportProgress>(),
    /** SHA-256 of the index of the last good import; null: none has been good yet. */
    revision: text("revision"),
    /** Keys in R2 of that import's .solv files, in the order in which the solver loads them. */
    parts: text("parts", { mode: "json" }).notNull().$type<string[]>().default([]),
    /** That import, which other repositories may show too. */
    importId: text("import_id"),
    packageCount: integer("package_count").notNull().default(0),
    /** Where the locations of its packages begin, relative to `url`: e.g. `suse` in yast2; empty in rpm-md. */
    packagesFolder: text("packages_folder").notNull().default(""),
    /** How the catalogue finds the address where a snapshot of it stays; null: it has none. */
    snapshots: text("snapshots", { mode: "json" }).$type<RepositorySnapshots>(),
    /** That address of the last good import; null: not known. */
    snapshotUrl: text("snapshot_url"),
    /** Fingerprint of the key that signed the index; every later import must be signed by it. */
    signer: text("signer"),
    /** The public keys next to that signature, or of deb those that were given; null: none, or the last good import knew nothing of them. */
    signingKeys: text("signing_keys", { mode: "json" }).$type<FrozenKey[]>(),
    /** Its owner has chosen to use an index that says that it is no longer valid. */
    acceptsExpired: integer("accepts_expired", { mode: "boolean" }).notNull().default(false),
    /** What R2 or the mirror calls the version of the index that was looked at last. */
    indexTag: text("index_tag"),
    /** The import that began last, with or without an end: no other may write what it found; and when. */
    checkId: text("check_id"),
    checkedAt: moment("checked_at"),
    importedAt: moment("imported_at"),
    /** Why the last check failed; the last good revision stays. */
    problem: text("problem"),
  },
  (table) => [
    uniqueIndex("repositories_catalogue_url").on(table.catalogue, table.url),
    uniqueIndex("repositories_account_url").on(table.accountId, table.url),
    uniqueIndex("repositories_user")
      .on(table.accountId, table.baseSystem)
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
 * What was read out of one revision of one address, once for all repositories that show it. The row is there before its
 * first package and its first part, so that nothing of an import that was killed is overlooked.
 */
export const imports = sqliteTable(
  "imports",
  {
    id: text("id").primaryKey(),
    url: text("url").notNull(),
    revision: text("revision").notNull(),
    begunAt: moment("begun_at").notNull(),
    /** When all of it was there; null: it is being made, or removed. */
    madeAt: moment("made_at"),
    /** How long reading it took, without the downloads. */
    workMs: integer("work_ms").notNull().default(0),
    /** Keys in R2, in the order in which the solver loads them. */
    parts: text("parts", { mode: "json" }).notNull().$type<string[]>().default([]),
    packageCount: integer("package_count").notNull().default(0),
    /** Of the texts of its rows. */
    bytes: integer("bytes").notNull().default(0),
    /** As its packages are built. */
    arches: text("arches", { mode: "json" }).notNull().$type<Arch[]>().default([]),
    /** The base system of this service that its packages are for; null: none. */
    baseSystem: text("base_system"),
  },
  (table) => [
    uniqueIndex("imports_made")
      .on(table.url, table.revision)
      .where(sql`made_at IS NOT NULL`),
  ],
);

/** What search shows of a package; `packages_fts` (see the migration) indexes name and summary by trigrams. */
export const packages = sqliteTable(
  "packages",
  {
    id: id(),
    /** Only those of imports that a repository shows can be found. */
    importId: text("import_id").notNull(),
    name: text("name").notNull(),
    epoch: integer("epoch").notNull(),
    version: text("version").notNull(),
    release: text("release").notNull(),
    arch: text("arch").notNull(),
    summary: text("summary").notNull(),
    description: text("description").notNull(),
    /** Of the file to download, and of what it installs. */
    sizeBytes: integer("size_bytes").notNull(),
    installedBytes: integer("installed_bytes").notNull(),
    /** Of the file; all three empty: there is none. */
    checksumType: text("checksum_type").notNull(),
    checksum: text("checksum").notNull(),
    /** Relative to the repository. */
    location: text("location").notNull(),
    /** The pattern that the package stands for; in yast2 patterns are rows of their own, without a file. */
    pattern: text("pattern"),
  },
  (table) => [
    index("packages_name").on(table.importId, table.name),
    index("packages_pattern")
      .on(table.importId, table.pattern)
      .where(sql`pattern IS NOT NULL`),
  ],
);

/**
 * The names of an import in their order, some dozen in a row: a text that is too short for the trigrams is looked for in
 * these instead of in each name.
 */
export const namePages = sqliteTable(
  "name_pages",
  {
    importId: text("import_id").notNull(),
    first: text("first").notNull(),
    last: text("last").notNull(),
    /** In lower case, each in a line. */
    names: text("names").notNull(),
  },
  (table) => [primaryKey({ columns: [table.importId, table.first] })],
);

/** Uploaded packages, RPMs or those of Debian, and archives of them; the packages of both make up a user repository. Their headers are next to them in R2. */
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
    /** What all of that takes: of an archive, its packages too. */
    storedBytes: integer("stored_bytes").notNull(),
    isArchive: integer("is_archive", { mode: "boolean" }).notNull().default(false),
    /** Of a single package, with its epoch: which earlier upload a new one replaces. */
    nevra: text("nevra"),
    packages: text("packages", { mode: "json" }).notNull().$type<StoredPackage[]>(),
    /** When this content came; of the same package in two uploads, the later is the repository's. */
    uploadedAt: moment("uploaded_at").notNull(),
    requestId: requestId(),
  },
  (table) => [
    index("rpms_account").on(table.accountId, table.baseSystem),
    uniqueIndex("rpms_nevra").on(table.accountId, table.baseSystem, table.nevra),
  ],
);
