import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { Arch, ImageType } from "#lib/contract/index";
import type { Configuration } from "#lib/configuration/stored";
import { accounts } from "./accounts.ts";
import { id, moment } from "./columns.ts";

/** Appliances and templates. Ids 1–999 are templates, which belong to no account. */
export const appliances = sqliteTable(
  "appliances",
  {
    id: id(),
    accountId: integer("account_id").references(() => accounts.id),
    name: text("name").notNull(),
    arch: text("arch").notNull().$type<Arch>(),
    baseSystem: text("base_system").notNull(),
    uuid: text("uuid").notNull().unique(),
    /**
     * The appliance that this one was cloned from, and that appliance's name at the time, because it may be deleted.
     */
    parentId: integer("parent_id"),
    parentName: text("parent_name"),
    /** The version of the next build. Its release number rises with each finished build of it. */
    version: text("version").notNull(),
    /** Default image format. */
    imageType: text("image_type").notNull().$type<ImageType>(),
    configuration: text("configuration", { mode: "json" }).notNull().$type<Configuration>(),
    configurationBytes: integer("configuration_bytes").generatedAlwaysAs(sql`length(CAST(configuration AS BLOB))`, {
      mode: "virtual",
    }),
    /** Blobs of the appliance's own logo and background; null for the default ones. */
    logoBlob: text("logo_blob"),
    backgroundBlob: text("background_blob"),
    estimatedRawMb: integer("estimated_raw_mb").notNull(),
    estimatedCompressedMb: integer("estimated_compressed_mb").notNull(),
    createdAt: moment("created_at").notNull(),
    lastEditedAt: moment("last_edited_at").notNull(),
  },
  (table) => [
    index("appliances_account").on(table.accountId),
    index("appliances_account_edited").on(table.accountId, table.lastEditedAt),
    index("appliances_configuration_bytes").on(table.accountId, table.configurationBytes),
    index("appliances_logo")
      .on(table.logoBlob)
      .where(sql`logo_blob IS NOT NULL`),
    index("appliances_background")
      .on(table.backgroundBlob)
      .where(sql`background_blob IS NOT NULL`),
  ],
);

export const applianceRepositories = sqliteTable(
  "appliance_repositories",
  {
    applianceId: integer("appliance_id").notNull(),
    repositoryId: integer("repository_id").notNull(),
    position: integer("position").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.applianceId, table.repositoryId] }),
    index("appliance_repositories_repository").on(table.repositoryId),
  ],
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

/**
 * A template's place in its set. A template that has left its catalogue is hidden, but can still be read as a parent.
 */
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
