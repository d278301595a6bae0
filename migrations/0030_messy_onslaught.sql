CREATE TABLE `package_needs` (
	`build_id` integer NOT NULL,
	`package_id` integer NOT NULL,
	PRIMARY KEY(`build_id`, `package_id`)
);
--> statement-breakpoint
CREATE INDEX `package_needs_package` ON `package_needs` (`package_id`);--> statement-breakpoint
CREATE TABLE `stored_packages` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repository_id` integer NOT NULL,
	`checksum` text NOT NULL,
	`size` integer NOT NULL,
	`blob` text,
	`pieces` integer DEFAULT 0 NOT NULL,
	`released_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `stored_packages_checksum` ON `stored_packages` (`repository_id`,`checksum`);--> statement-breakpoint
CREATE UNIQUE INDEX `stored_packages_blob` ON `stored_packages` (`blob`);--> statement-breakpoint
CREATE INDEX `stored_packages_released` ON `stored_packages` (`released_at`) WHERE released_at IS NOT NULL;--> statement-breakpoint
ALTER TABLE `repositories` ADD `snapshots` text;--> statement-breakpoint
ALTER TABLE `repositories` ADD `snapshot_url` text;