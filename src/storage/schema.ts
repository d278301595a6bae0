import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { Arch, Capabilities, ImageType } from "#contract/index";
import type { BaseSystemFacts } from "#domain/catalogue";
import type { Configuration } from "#domain/configuration";
import type { StoredPackage } from "#domain/rpm";

/** Moments are milliseconds since 1970, read as Date. */
const moment = (name: string) => integer(name, { mode: "timestamp_ms" });
const id = () => integer("id").primaryKey({ autoIncrement: true });

/** People. The API key is found by its HMAC and shown again from its cipher; neither gives it away alone. */
export const accounts = sqliteTable("accounts", {
  id: id(),
  username: text("username").notNull().unique(),
  displayName: text("display_name").notNull(),
  email: text("email").notNull(),
  apiKeyHmac: text("api_key_hmac").notNull().unique(),
  apiKeyCipher: text("api_key_cipher").notNull(),
  passwordHash: text("password_hash").notNull(),
  createdAt: moment("created_at").notNull(),
});

/** Builder agents, known by their token. */
export const agents = sqliteTable("agents", {
  id: id(),
  name: text("name").notNull().unique(),
  tokenHmac: text("token_hmac").notNull().unique(),
  capabilities: text("capabilities", { mode: "json" }).$type<Capabilities>(),
  createdAt: moment("created_at").notNull(),
  lastSeenAt: moment("last_seen_at"),
});

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
    /** Who imported it, and alone sees it; null: everyone's, brought by a catalogue. */
    accountId: integer("account_id").references(() => accounts.id),
    name: text("name").notNull(),
    /** http(s) address, or `service:/repositories/…` for one that lies in our own R2. */
    url: text("url").notNull(),
    type: text("type", { enum: ["rpm-md", "yast2"] }).notNull(),
    baseSystem: text("base_system").notNull(),
    /** Architectures its packages are built for, e.g. ["x86_64"]. */
    arches: text("arches", { mode: "json" }).notNull().$type<Arch[]>(),
    /** zypper's: the lower number wins. */
    priority: integer("priority").notNull().default(99),
    /** The template catalogue that brought it; null: a person did. */
    catalogue: text("catalogue"),
    /** Made of the account's own uploads for its base system. */
    isUserRepository: integer("is_user_repository", { mode: "boolean" }).notNull().default(false),
    importState: text("import_state", { enum: ["ready", "importing", "failed"] })
      .notNull()
      .default("importing"),
    /** SHA-256 of the index of the last good import; null: none has been good yet. */
    revision: text("revision"),
    /** Keys in R2 of that import's .solv files, in the order in which the solver loads them. */
    parts: text("parts", { mode: "json" }).notNull().$type<string[]>().default([]),
    /** That import's own name: its rows of packages carry it. */
    importId: text("import_id"),
    packageCount: integer("package_count").notNull().default(0),
    /** Where the locations of its packages begin, relative to `url`: e.g. `suse` in yast2; empty in rpm-md. */
    packagesFolder: text("packages_folder").notNull().default(""),
    /** Fingerprint of the key that signed the index; every later import must be signed by it. */
    signer: text("signer"),
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
  ],
);

/** What search shows of a package; `packages_fts` (see the migration) indexes name and summary by trigrams. */
export const packages = sqliteTable(
  "packages",
  {
    id: id(),
    repositoryId: integer("repository_id").notNull(),
    /** Only those of the repository's shown import can be found. */
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
    checksumType: text("checksum_type").notNull(),
    checksum: text("checksum").notNull(),
    /** Of the file, relative to the repository. */
    location: text("location").notNull(),
    /** The pattern that the package stands for. */
    pattern: text("pattern"),
  },
  (table) => [
    index("packages_name").on(table.importId, table.name),
    index("packages_pattern")
      .on(table.importId, table.pattern)
      .where(sql`pattern IS NOT NULL`),
    index("packages_repository").on(table.repositoryId, table.importId),
  ],
);

/** Uploaded RPMs and archives of RPMs; the packages of both make up a user repository. Their headers lie beside them in R2. */
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
    /** Everything of this upload lies below one prefix of R2, named by it. */
    blobId: text("blob_id").notNull().unique(),
    /** What all of that takes: of an archive, its packages too. */
    storedBytes: integer("stored_bytes").notNull(),
    isArchive: integer("is_archive", { mode: "boolean" }).notNull().default(false),
    /** Of a single RPM, with its epoch: which earlier upload a new one replaces. */
    nevra: text("nevra"),
    packages: text("packages", { mode: "json" }).notNull().$type<StoredPackage[]>(),
    /** When this content came; of the same package in two uploads, the later is the repository's. */
    uploadedAt: moment("uploaded_at").notNull(),
  },
  (table) => [
    index("rpms_account").on(table.accountId, table.baseSystem),
    uniqueIndex("rpms_nevra").on(table.accountId, table.baseSystem, table.nevra),
  ],
);

/** Appliances and templates. Ids 1–999 are templates, which belong to nobody. */
export const appliances = sqliteTable(
  "appliances",
  {
    id: id(),
    accountId: integer("account_id").references(() => accounts.id),
    name: text("name").notNull(),
    arch: text("arch").notNull().$type<Arch>(),
    baseSystem: text("base_system").notNull(),
    uuid: text("uuid").notNull().unique(),
    /** What it was cloned from; the name as it was then, since the source may go. */
    parentId: integer("parent_id"),
    parentName: text("parent_name"),
    /** The version that the next build gets; its release number rises with each finished build of it. */
    version: text("version").notNull(),
    /** Default image format. */
    imageType: text("image_type").notNull().$type<ImageType>(),
    configuration: text("configuration", { mode: "json" }).notNull().$type<Configuration>(),
    estimatedRawMb: integer("estimated_raw_mb").notNull(),
    estimatedCompressedMb: integer("estimated_compressed_mb").notNull(),
    createdAt: moment("created_at").notNull(),
    lastEditedAt: moment("last_edited_at").notNull(),
  },
  (table) => [index("appliances_account").on(table.accountId)],
);

export const applianceRepositories = sqliteTable(
  "appliance_repositories",
  {
    applianceId: integer("appliance_id").notNull(),
    repositoryId: integer("repository_id").notNull(),
    position: integer("position").notNull(),
  },
  (table) => [primaryKey({ columns: [table.applianceId, table.repositoryId] })],
);

/** Packages and patterns that a user chose or banned. */
export const selections = sqliteTable(
  "selections",
  {
    id: id(),
    applianceId: integer("appliance_id").notNull(),
    kind: text("kind", { enum: ["package", "pattern", "ban"] }).notNull(),
    name: text("name").notNull(),
    version: text("version"),
    repositoryId: integer("repository_id"),
  },
  (table) => [uniqueIndex("selections_appliance_kind_name").on(table.applianceId, table.kind, table.name)],
);

export const templateSets = sqliteTable("template_sets", {
  name: text("name").primaryKey(),
  description: text("description").notNull(),
  position: integer("position").notNull(),
  catalogue: text("catalogue").notNull(),
});

/** A template's place in its set. One that left its catalogue is hidden, and stays readable as a parent. */
export const templates = sqliteTable("templates", {
  applianceId: integer("appliance_id").primaryKey(),
  templateSet: text("template_set").notNull(),
  name: text("name").notNull(),
  description: text("description").notNull(),
  baseSystem: text("base_system").notNull(),
  position: integer("position").notNull(),
  catalogue: text("catalogue").notNull(),
  hidden: integer("hidden", { mode: "boolean" }).notNull().default(false),
});

export const buildStatuses = ["queued", "running", "finished", "failed", "error", "cancelled"] as const;

/**
 * Builds, running and finished: one id for both. The row takes the slot and decides races; progress lives in the Build
 * object, and D1 is written when the status changes.
 */
export const builds = sqliteTable(
  "builds",
  {
    id: id(),
    accountId: integer("account_id").notNull(),
    applianceId: integer("appliance_id").notNull(),
    version: text("version").notNull(),
    imageType: text("image_type").notNull().$type<ImageType>(),
    status: text("status", { enum: buildStatuses }).notNull(),
    /** The agent whose attempt runs. */
    agentId: integer("agent_id"),
    /** SHA-256 of the frozen input, which is also its key in R2. */
    inputSha256: text("input_sha256").notNull(),
    /** Why it ended, or "Finished". */
    message: text("message").notNull().default(""),
    /** Replaced by a forced build: no client sees it any more, the sweeper removes its blobs. */
    retiredAt: moment("retired_at"),
    /** Part of the download address; nobody can guess it. */
    downloadToken: text("download_token").notNull().unique(),
    /** Where the image of the attempt that won lies in R2. */
    imageKey: text("image_key"),
    fileName: text("file_name"),
    /** Bytes of the file to download, and of the disk inside it. */
    fileSize: integer("file_size"),
    rawSize: integer("raw_size"),
    compressed: integer("compressed", { mode: "boolean" }),
    md5: text("md5"),
    sha1: text("sha1"),
    sha256: text("sha256"),
    steps: text("steps", { mode: "json" }).$type<{ phase: string; seconds: number }[]>(),
    createdAt: moment("created_at").notNull(),
    startedAt: moment("started_at"),
    completedAt: moment("completed_at"),
  },
  (table) => [
    index("builds_appliance").on(table.applianceId, table.id),
    uniqueIndex("builds_unfinished")
      .on(table.applianceId, table.version, table.imageType)
      .where(sql`status IN ('queued', 'running')`),
    uniqueIndex("builds_current")
      .on(table.applianceId, table.version, table.imageType)
      .where(sql`status = 'finished' AND retired_at IS NULL`),
    index("builds_status").on(table.status, table.id),
    index("builds_input").on(table.inputSha256),
  ],
);

export const testdrives = sqliteTable(
  "testdrives",
  {
    id: id(),
    accountId: integer("account_id").notNull(),
    buildId: integer("build_id").notNull(),
    state: text("state", { enum: ["new", "running", "ended"] }).notNull(),
    /** Part of the page's address; who has it may watch and type. */
    pageToken: text("page_token").notNull().unique(),
    createdAt: moment("created_at").notNull(),
    endedAt: moment("ended_at"),
  },
  (table) => [index("testdrives_state").on(table.state, table.accountId)],
);

/** Where the sweeper's next look at a prefix of R2 goes on; no row: at the start. */
export const sweepPositions = sqliteTable("sweep_positions", {
  prefix: text("prefix").primaryKey(),
  cursor: text("cursor").notNull(),
});
