CREATE TABLE `picture_sizes` (
	`blob_id` text PRIMARY KEY NOT NULL,
	`bytes` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `event_outbox` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` integer NOT NULL,
	`announcement` text NOT NULL,
	`tried_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `event_outbox_tried` ON `event_outbox` (`tried_at`);--> statement-breakpoint
CREATE TABLE `gallery_listings` (
	`appliance_id` integer PRIMARY KEY NOT NULL,
	`publication_id` integer NOT NULL,
	`account_id` integer NOT NULL,
	`published_at` integer NOT NULL,
	`points` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `gallery_listings_publication` ON `gallery_listings` (`publication_id`);--> statement-breakpoint
CREATE INDEX `gallery_listings_account` ON `gallery_listings` (`account_id`,`publication_id`);--> statement-breakpoint
CREATE TABLE `prepared_roots` (
	`appliance_id` integer NOT NULL,
	`key` text NOT NULL,
	`build_id` integer NOT NULL,
	`blob_key` text NOT NULL,
	`sha256` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`appliance_id`, `key`)
);
--> statement-breakpoint
CREATE INDEX `prepared_roots_build` ON `prepared_roots` (`build_id`);--> statement-breakpoint
CREATE INDEX `prepared_roots_created` ON `prepared_roots` (`created_at`);--> statement-breakpoint
ALTER TABLE `builds` ADD `needs_lvm` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `testdrives` ADD `web_token` text;--> statement-breakpoint
ALTER TABLE `repositories` ADD `signing_keys` text;--> statement-breakpoint
INSERT INTO `gallery_listings` SELECT p.appliance_id, max(p.id), p.account_id, p.published_at, 1 + max(0, coalesce((SELECT sum(rating - 2) FROM ratings WHERE appliance_id = p.appliance_id AND account_id <> p.account_id), 0) + coalesce((SELECT sum(CASE kind WHEN 'clone' THEN 3 ELSE 1 END) FROM gallery_uses WHERE appliance_id = p.appliance_id), 0)) FROM publications AS p GROUP BY p.appliance_id;
