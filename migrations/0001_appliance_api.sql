CREATE TABLE `gpg_keys` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`appliance_id` integer NOT NULL,
	`name` text NOT NULL,
	`target` text NOT NULL,
	`fingerprint` text NOT NULL,
	`key` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `gpg_keys_fingerprint` ON `gpg_keys` (`appliance_id`,`fingerprint`);--> statement-breakpoint
CREATE TABLE `overlay_files` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`appliance_id` integer NOT NULL,
	`file_name` text NOT NULL,
	`path` text NOT NULL,
	`owner` text NOT NULL,
	`group_name` text NOT NULL,
	`permissions` integer NOT NULL,
	`enabled` integer NOT NULL,
	`size` integer NOT NULL,
	`md5` text NOT NULL,
	`sha256` text NOT NULL,
	`blob_id` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `overlay_files_appliance` ON `overlay_files` (`appliance_id`,`id`);--> statement-breakpoint
CREATE INDEX `overlay_files_blob` ON `overlay_files` (`blob_id`);--> statement-breakpoint
CREATE TABLE `webhooks` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` integer NOT NULL,
	`url` text NOT NULL,
	`events` text NOT NULL,
	`secret_cipher` text NOT NULL,
	`created_at` integer NOT NULL,
	`failing_since` integer,
	`disabled_reason` text
);
--> statement-breakpoint
CREATE INDEX `webhooks_account` ON `webhooks` (`account_id`);--> statement-breakpoint
CREATE TABLE `comments` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`appliance_id` integer NOT NULL,
	`account_id` integer NOT NULL,
	`parent_id` integer,
	`text` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `comments_appliance` ON `comments` (`appliance_id`,`id`);--> statement-breakpoint
CREATE TABLE `gallery_uses` (
	`appliance_id` integer NOT NULL,
	`account_id` integer NOT NULL,
	`kind` text NOT NULL,
	PRIMARY KEY(`appliance_id`, `account_id`, `kind`)
);
--> statement-breakpoint
CREATE TABLE `publications` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`uuid` text NOT NULL,
	`appliance_id` integer NOT NULL,
	`account_id` integer NOT NULL,
	`version` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`homepage` text NOT NULL,
	`tags` text NOT NULL,
	`publisher` text NOT NULL,
	`username` text NOT NULL,
	`base_system` text NOT NULL,
	`arch` text NOT NULL,
	`image_type` text NOT NULL,
	`public_clonable` integer NOT NULL,
	`logo_blob` text,
	`background_blob` text,
	`published_at` integer NOT NULL,
	`release_notes` text NOT NULL,
	`formats` text NOT NULL,
	`definition` text NOT NULL,
	`software` text NOT NULL,
	`packages` text NOT NULL,
	FOREIGN KEY (`appliance_id`) REFERENCES `appliances`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `publications_uuid_unique` ON `publications` (`uuid`);--> statement-breakpoint
CREATE UNIQUE INDEX `publications_version` ON `publications` (`appliance_id`,`version`);--> statement-breakpoint
CREATE INDEX `publications_account` ON `publications` (`account_id`);--> statement-breakpoint
CREATE INDEX `publications_logo` ON `publications` (`logo_blob`);--> statement-breakpoint
CREATE INDEX `publications_background` ON `publications` (`background_blob`);--> statement-breakpoint
CREATE TABLE `published_files` (
	`publication_id` integer NOT NULL,
	`position` integer NOT NULL,
	`file_name` text NOT NULL,
	`path` text NOT NULL,
	`owner` text NOT NULL,
	`group_name` text NOT NULL,
	`permissions` integer NOT NULL,
	`enabled` integer NOT NULL,
	`size` integer NOT NULL,
	`md5` text NOT NULL,
	`sha256` text NOT NULL,
	`blob_id` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`publication_id`, `position`)
);
--> statement-breakpoint
CREATE INDEX `published_files_blob` ON `published_files` (`blob_id`);--> statement-breakpoint
CREATE TABLE `ratings` (
	`appliance_id` integer NOT NULL,
	`account_id` integer NOT NULL,
	`rating` integer NOT NULL,
	`rated_at` integer NOT NULL,
	PRIMARY KEY(`appliance_id`, `account_id`),
	CONSTRAINT "ratings_range" CHECK(rating BETWEEN 0 AND 5)
);
--> statement-breakpoint
CREATE TABLE `shares` (
	`appliance_id` integer NOT NULL,
	`account_id` integer NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`appliance_id`, `account_id`)
);
--> statement-breakpoint
CREATE INDEX `shares_account` ON `shares` (`account_id`);--> statement-breakpoint
CREATE TABLE `last_images` (
	`appliance_id` integer PRIMARY KEY NOT NULL,
	`question` text NOT NULL,
	`packages` text,
	FOREIGN KEY (`appliance_id`) REFERENCES `appliances`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `agreements` (
	`account_id` integer NOT NULL,
	`base_system` text NOT NULL,
	`text_sha256` text NOT NULL,
	`accepted_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `base_system`, `text_sha256`)
);
--> statement-breakpoint
CREATE TABLE `frozen_blobs` (
	`build_id` integer NOT NULL,
	`blob_id` text NOT NULL,
	PRIMARY KEY(`build_id`, `blob_id`)
);
--> statement-breakpoint
CREATE INDEX `frozen_blobs_blob` ON `frozen_blobs` (`blob_id`);--> statement-breakpoint
CREATE TABLE `idempotent_answers` (
	`account_id` integer NOT NULL,
	`key` text NOT NULL,
	`request_sha256` text NOT NULL,
	`status` integer,
	`content_type` text,
	`body` text,
	`created_at` integer NOT NULL,
	`lease_ends_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `key`)
);
--> statement-breakpoint
CREATE INDEX `idempotent_answers_created` ON `idempotent_answers` (`created_at`);--> statement-breakpoint
CREATE TABLE `released_blobs` (
	`blob_id` text PRIMARY KEY NOT NULL,
	`released_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `service_settings` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
ALTER TABLE `appliances` ADD `logo_blob` text;--> statement-breakpoint
ALTER TABLE `appliances` ADD `background_blob` text;--> statement-breakpoint
ALTER TABLE `builds` ADD `files_key` text;--> statement-breakpoint
ALTER TABLE `builds` ADD `files_size` integer;--> statement-breakpoint
ALTER TABLE `builds` ADD `files_index_key` text;--> statement-breakpoint
ALTER TABLE `builds` ADD `files_index_size` integer;--> statement-breakpoint
ALTER TABLE `builds` ADD `builder` text;--> statement-breakpoint
ALTER TABLE `builds` ADD `expired_at` integer;--> statement-breakpoint
CREATE VIRTUAL TABLE `publications_fts` USING fts5(name, description, tags, publisher, username, packages, content = 'publications', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3');
--> statement-breakpoint
CREATE TRIGGER `publications_inserted` AFTER INSERT ON `publications` BEGIN
	INSERT INTO publications_fts(rowid, name, description, tags, publisher, username, packages) VALUES (new.id, new.name, new.description, new.tags, new.publisher, new.username, new.packages);
END;
--> statement-breakpoint
CREATE TRIGGER `publications_deleted` AFTER DELETE ON `publications` BEGIN
	INSERT INTO publications_fts(publications_fts, rowid, name, description, tags, publisher, username, packages) VALUES ('delete', old.id, old.name, old.description, old.tags, old.publisher, old.username, old.packages);
END;
