import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { BuildConditions, FileSystem, ImageType, PackageType } from "#lib/contract/index";
import type { Rebuilt } from "#lib/attest/rebuild";
import { id, moment, uid } from "./columns.ts";

export const buildStatuses = ["queued", "running", "finished", "failed", "error", "cancelled"] as const;

/**
 * Builds, running and finished; both use the same ids. The row takes the slot and decides races. Progress lives in the
 * Build object, and D1 is written when the status changes.
 */
export const builds = sqliteTable(
  "builds",
  {
    id: id(),
    uid: uid(),
    accountId: integer("account_id").notNull(),
    applianceId: integer("appliance_id").notNull(),
    version: text("version").notNull(),
    imageType: text("image_type").notNull().$type<ImageType>(),
    status: text("status", { enum: buildStatuses }).notNull(),
    /** Whether the disk is divided into volumes, which not every builder supports. */
    needsLvm: integer("needs_lvm", { mode: "boolean" }).notNull().default(false),
    /** The file system of the disk. Not every builder supports all of them. */
    fileSystem: text("file_system").notNull().$type<FileSystem>().default("ext4"),
    /** Whether the image boots with UEFI, which not every builder supports. */
    needsEfi: integer("needs_efi", { mode: "boolean" }).notNull().default(false),
    /** Whether the image also boots with Secure Boot. Its testdrives then have Secure Boot on. */
    hasSecureBoot: integer("has_secure_boot", { mode: "boolean" }).notNull().default(false),
    /** The type of the packages. Not every builder can install both types. */
    packageType: text("package_type").notNull().$type<PackageType>().default("rpm"),
    /** The builder root that is required for the build; null for the agent's default root or its host. */
    builderRoot: text("builder_root"),
    /** Whether this is a background build: an automatic build or a rebuild. Other builds come before it. */
    isBackground: integer("is_background", { mode: "boolean" }).notNull().default(false),
    /** The agent that runs the current attempt. */
    agentId: integer("agent_id"),
    /** The agent that built the image; null for older builds. */
    madeBy: integer("made_by"),
    /** SHA-256 of the frozen input, which is also its key in R2. */
    inputSha256: text("input_sha256").notNull(),
    /** Why the build ended, or "Finished". */
    message: text("message").notNull().default(""),
    /** The last progress of a build that ended without an image. While a build runs, only its object has this. */
    percent: integer("percent").notNull().default(0),
    /**
     * When a forced build replaced this one. From then on no client sees it, and the sweep removes its blobs. A rebuild
     * has a time in the far future from its beginning, so that it is never listed as a build.
     */
    retiredAt: moment("retired_at"),
    /** The build that this one repeats, to compare the two images. Null for builds that are not rebuilds. */
    rebuildOf: integer("rebuild_of"),
    /** The result of a rebuild. Null for other builds, and until the rebuild has ended with an image. */
    rebuilt: text("rebuilt", { mode: "json" }).$type<Rebuilt>(),
    /** The signed statement about this result; null if the service signs nothing. */
    rebuiltStatement: text("rebuilt_statement"),
    /** Part of the download address; it cannot be guessed. */
    downloadToken: text("download_token").notNull().unique(),
    /** The key in R2 of the winning attempt's image. */
    imageKey: text("image_key"),
    fileName: text("file_name"),
    /** Bytes of the file to download, and of the disk inside it. */
    fileSize: integer("file_size"),
    rawSize: integer("raw_size"),
    compressed: integer("compressed", { mode: "boolean" }),
    md5: text("md5"),
    sha1: text("sha1"),
    sha256: text("sha256"),
    /** SHA-256 of the disk in the downloadable archive; null if there is none, or for older builds. */
    diskSha256: text("disk_sha256"),
    /**
     * The file store of the image's root (contract/file-store.ts) and its bytes; null for older builds. Formats of one
     * version may have the same key (storage/file-stores.ts).
     */
    filesKey: text("files_key"),
    filesSize: integer("files_size"),
    filesSha256: text("files_sha256"),
    filesIndexKey: text("files_index_key"),
    filesIndexSize: integer("files_index_size"),
    /**
     * The delta that turns the disk of an earlier image into this one (lib/delta), and its bytes; null if there is
     * none.
     */
    deltaKey: text("delta_key"),
    deltaSize: integer("delta_size"),
    /** The bytes of the image, its file store and its delta. */
    storedBytes: integer("stored_bytes").generatedAlwaysAs(
      sql`file_size + coalesce(files_size, 0) + coalesce(files_index_size, 0) + coalesce(delta_size, 0)`,
      { mode: "virtual" },
    ),
    /** KIWI's version. */
    builder: text("builder"),
    /**
     * The builder root in which the image was built, as NAME@SHA256. Null if it was built with the tools of the agent's
     * host, or before there were builder roots.
     */
    builtIn: text("built_in"),
    /** Null if an older agent built it. */
    conditions: text("conditions", { mode: "json" }).$type<BuildConditions>(),
    /**
     * When retention removed the image and its file store. Their keys are null since then. The row and the log stay.
     */
    expiredAt: moment("expired_at"),
    /**
     * The position of the build's entry in the public log; null if the build was never published, or is not logged yet.
     */
    logPosition: integer("log_position"),
    /** Whether `image_packages` has the packages of this image. */
    hasListedPackages: integer("has_listed_packages", { mode: "boolean" }).notNull().default(false),
    steps: text("steps", { mode: "json" }).$type<{ phase: string; seconds: number }[]>(),
    createdAt: moment("created_at").notNull(),
    /** When the build last returned to the queue; null if it never did. */
    requeuedAt: moment("requeued_at"),
    startedAt: moment("started_at"),
    completedAt: moment("completed_at"),
    /** When the sweep wakes the object of an unfinished build, unless the object shows before that it is alive. */
    wakeAt: moment("wake_at")
      .notNull()
      .default(sql`0`),
  },
  (table) => [
    index("builds_appliance").on(table.applianceId, table.id),
    uniqueIndex("builds_unfinished")
      .on(table.applianceId, table.version, table.imageType)
      .where(sql`status IN ('queued', 'running') AND rebuild_of IS NULL`),
    uniqueIndex("builds_rebuilding")
      .on(table.rebuildOf)
      .where(sql`status IN ('queued', 'running') AND rebuild_of IS NOT NULL`),
    index("builds_rebuilds")
      .on(table.rebuildOf, table.id)
      .where(sql`rebuild_of IS NOT NULL`),
    uniqueIndex("builds_current")
      .on(table.applianceId, table.version, table.imageType)
      .where(sql`status = 'finished' AND retired_at IS NULL`),
    index("builds_images")
      .on(table.applianceId, table.id)
      .where(sql`status = 'finished' AND retired_at IS NULL AND expired_at IS NULL`),
    index("builds_file_stores")
      .on(table.filesKey)
      .where(sql`files_key IS NOT NULL`),
    index("builds_unlisted")
      .on(table.id)
      .where(sql`status = 'finished' AND retired_at IS NULL AND expired_at IS NULL AND has_listed_packages = 0`),
    index("builds_status").on(table.status, table.id),
    index("builds_input").on(table.inputSha256),
    // Contains everything that the quota adds up, so that no rows are read for it, and gives the largest builds of an
    // account in order.
    index("builds_stored").on(table.accountId, table.retiredAt, table.expiredAt, table.storedBytes),
    index("builds_unfinished_account")
      .on(table.accountId)
      .where(sql`status IN ('queued', 'running')`),
    index("builds_timed")
      .on(table.imageType, table.id)
      .where(sql`status = 'finished'`),
    index("builds_expirable")
      .on(table.status, table.completedAt)
      .where(sql`image_key IS NOT NULL AND retired_at IS NULL`),
    index("builds_imageless")
      .on(table.expiredAt, table.completedAt)
      .where(sql`image_key IS NULL AND retired_at IS NULL AND status NOT IN ('queued', 'running')`),
    index("builds_retired")
      .on(table.retiredAt)
      .where(sql`retired_at IS NOT NULL`),
    index("builds_wake")
      .on(table.wakeAt)
      .where(sql`status IN ('queued', 'running')`),
  ],
);

export const testdrives = sqliteTable(
  "testdrives",
  {
    id: id(),
    uid: uid(),
    accountId: integer("account_id").notNull(),
    buildId: integer("build_id").notNull(),
    state: text("state", { enum: ["new", "running", "ended"] }).notNull(),
    /** Part of the page's URL, encrypted. Anyone who has it may watch and type. */
    pageToken: text("page_token").notNull().unique(),
    createdAt: moment("created_at").notNull(),
    endedAt: moment("ended_at"),
    /** Part of the URL of the guest's web server, encrypted; null if the machine has no network. */
    webToken: text("web_token"),
    /** Whether the session checks an image. It takes a slot, but belongs to the service, and no list shows it. */
    isCheck: integer("is_check", { mode: "boolean" }).notNull().default(false),
    /** The agent that claimed the testdrive. */
    agentId: integer("agent_id"),
    /**
     * When the sweep wakes the object of a testdrive that has not ended, unless the object shows before that it is
     * alive.
     */
    wakeAt: moment("wake_at")
      .notNull()
      .default(sql`0`),
  },
  (table) => [
    index("testdrives_state").on(table.state, table.accountId),
    index("testdrives_build").on(table.buildId, table.state),
    index("testdrives_agent")
      .on(table.agentId)
      .where(sql`state IN ('new', 'running')`),
    index("testdrives_wake")
      .on(table.wakeAt)
      .where(sql`state IN ('new', 'running')`),
  ],
);
