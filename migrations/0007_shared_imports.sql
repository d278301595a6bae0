CREATE TABLE `imports` (
	`id` text PRIMARY KEY NOT NULL,
	`url` text NOT NULL,
	`revision` text NOT NULL,
	`begun_at` integer NOT NULL,
	`made_at` integer,
	`work_ms` integer DEFAULT 0 NOT NULL,
	`parts` text DEFAULT '[]' NOT NULL,
	`package_count` integer DEFAULT 0 NOT NULL,
	`bytes` integer DEFAULT 0 NOT NULL,
	`arches` text DEFAULT '[]' NOT NULL,
	`base_system` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `imports_made` ON `imports` (`url`,`revision`) WHERE made_at IS NOT NULL;--> statement-breakpoint
DROP INDEX `packages_repository`;--> statement-breakpoint
ALTER TABLE `packages` DROP COLUMN `repository_id`;--> statement-breakpoint
CREATE INDEX `repositories_import` ON `repositories` (`import_id`);--> statement-breakpoint
INSERT INTO `imports` (`id`, `url`, `revision`, `begun_at`, `made_at`, `parts`, `package_count`, `arches`, `base_system`)
	SELECT `import_id`, `url` || '#' || `id`, coalesce(`revision`, ''), 0, coalesce(`imported_at`, 0), `parts`, `package_count`, `arches`, `base_system`
	FROM `repositories` WHERE `import_id` IS NOT NULL;--> statement-breakpoint
INSERT OR IGNORE INTO `imports` (`id`, `url`, `revision`, `begun_at`) SELECT DISTINCT `import_id`, '', '', 0 FROM `packages`;
