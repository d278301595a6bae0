/**
 * The tables of D1, one file per subject, without those of the packages' database (schema/packages.ts). `npm run
 * migrations` compares all files with the last migration.
 */
export * from "./schema/account-rates.ts";
export * from "./schema/account-ssh-keys.ts";
export * from "./schema/accounts.ts";
export * from "./schema/advisories.ts";
export * from "./schema/appliances.ts";
export * from "./schema/audit-log.ts";
export * from "./schema/builds.ts";
export * from "./schema/channels.ts";
export * from "./schema/checks.ts";
export * from "./schema/contents.ts";
export * from "./schema/events.ts";
export * from "./schema/gallery.ts";
export * from "./schema/image-packages.ts";
export * from "./schema/import-turns.ts";
export * from "./schema/metrics.ts";
export * from "./schema/prepared-roots.ts";
export * from "./schema/repositories.ts";
export * from "./schema/reservations.ts";
export * from "./schema/resolutions.ts";
export * from "./schema/resumable-uploads.ts";
export * from "./schema/schematics.ts";
export * from "./schema/service.ts";
export * from "./schema/sessions.ts";
export * from "./schema/stored-packages.ts";
export * from "./schema/tokens.ts";
export * from "./schema/updates.ts";
export * from "./schema/vex.ts";
