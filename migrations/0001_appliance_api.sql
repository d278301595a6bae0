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
CREATE TABLE `shares` (
	`appliance_id` integer NOT NULL,
	`account_id` integer NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`appliance_id`, `account_id`)
);
--> statement-breakpoint
CREATE INDEX `shares_account` ON `shares` (`account_id`);--> statement-breakpoint
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
ALTER TABLE `builds` ADD `expired_at` integer;