CREATE TABLE `accounts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`username` text NOT NULL,
	`display_name` text NOT NULL,
	`email` text NOT NULL,
	`api_key_hmac` text NOT NULL,
	`api_key_cipher` text NOT NULL,
	`password_hash` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_username_unique` ON `accounts` (`username`);--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_api_key_hmac_unique` ON `accounts` (`api_key_hmac`);--> statement-breakpoint
CREATE TABLE `agents` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`token_hmac` text NOT NULL,
	`capabilities` text,
	`created_at` integer NOT NULL,
	`last_seen_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `agents_name_unique` ON `agents` (`name`);--> statement-breakpoint
CREATE UNIQUE INDEX `agents_token_hmac_unique` ON `agents` (`token_hmac`);--> statement-breakpoint
CREATE TABLE `appliance_repositories` (
	`appliance_id` integer NOT NULL,
	`repository_id` integer NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`appliance_id`, `repository_id`)
);
--> statement-breakpoint
CREATE TABLE `appliances` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` integer,
	`name` text NOT NULL,
	`arch` text NOT NULL,
	`base_system` text NOT NULL,
	`uuid` text NOT NULL,
	`parent_id` integer,
	`parent_name` text,
	`version` text NOT NULL,
	`image_type` text NOT NULL,
	`configuration` text NOT NULL,
	`estimated_raw_mb` integer NOT NULL,
	`estimated_compressed_mb` integer NOT NULL,
	`created_at` integer NOT NULL,
	`last_edited_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `appliances_uuid_unique` ON `appliances` (`uuid`);--> statement-breakpoint
CREATE INDEX `appliances_account` ON `appliances` (`account_id`);--> statement-breakpoint
CREATE TABLE `base_systems` (
	`name` text PRIMARY KEY NOT NULL,
	`catalogue` text NOT NULL,
	`facts` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `builds` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` integer NOT NULL,
	`appliance_id` integer NOT NULL,
	`version` text NOT NULL,
	`image_type` text NOT NULL,
	`status` text NOT NULL,
	`agent_id` integer,
	`input_sha256` text NOT NULL,
	`message` text DEFAULT '' NOT NULL,
	`retired_at` integer,
	`download_token` text NOT NULL,
	`image_key` text,
	`file_name` text,
	`file_size` integer,
	`raw_size` integer,
	`compressed` integer,
	`md5` text,
	`sha1` text,
	`sha256` text,
	`steps` text,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`completed_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `builds_download_token_unique` ON `builds` (`download_token`);--> statement-breakpoint
CREATE INDEX `builds_appliance` ON `builds` (`appliance_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `builds_unfinished` ON `builds` (`appliance_id`,`version`,`image_type`) WHERE status IN ('queued', 'running');--> statement-breakpoint
CREATE UNIQUE INDEX `builds_current` ON `builds` (`appliance_id`,`version`,`image_type`) WHERE status = 'finished' AND retired_at IS NULL;--> statement-breakpoint
CREATE INDEX `builds_status` ON `builds` (`status`,`id`);--> statement-breakpoint
CREATE INDEX `builds_input` ON `builds` (`input_sha256`);--> statement-breakpoint
CREATE TABLE `packages` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repository_id` integer NOT NULL,
	`import_id` text NOT NULL,
	`name` text NOT NULL,
	`epoch` integer NOT NULL,
	`version` text NOT NULL,
	`release` text NOT NULL,
	`arch` text NOT NULL,
	`summary` text NOT NULL,
	`description` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`installed_bytes` integer NOT NULL,
	`checksum_type` text NOT NULL,
	`checksum` text NOT NULL,
	`location` text NOT NULL,
	`pattern` text
);
--> statement-breakpoint
CREATE INDEX `packages_name` ON `packages` (`import_id`,`name`);--> statement-breakpoint
CREATE INDEX `packages_pattern` ON `packages` (`import_id`,`pattern`) WHERE pattern IS NOT NULL;--> statement-breakpoint
CREATE INDEX `packages_repository` ON `packages` (`repository_id`,`import_id`);--> statement-breakpoint
CREATE TABLE `repositories` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` integer,
	`name` text NOT NULL,
	`url` text NOT NULL,
	`type` text NOT NULL,
	`base_system` text NOT NULL,
	`arches` text NOT NULL,
	`priority` integer DEFAULT 99 NOT NULL,
	`catalogue` text,
	`is_user_repository` integer DEFAULT false NOT NULL,
	`import_state` text DEFAULT 'importing' NOT NULL,
	`revision` text,
	`parts` text DEFAULT '[]' NOT NULL,
	`import_id` text,
	`package_count` integer DEFAULT 0 NOT NULL,
	`packages_folder` text DEFAULT '' NOT NULL,
	`signer` text,
	`index_tag` text,
	`check_id` text,
	`checked_at` integer,
	`imported_at` integer,
	`problem` text,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `repositories_catalogue_url` ON `repositories` (`catalogue`,`url`);--> statement-breakpoint
CREATE UNIQUE INDEX `repositories_account_url` ON `repositories` (`account_id`,`url`);--> statement-breakpoint
CREATE UNIQUE INDEX `repositories_user` ON `repositories` (`account_id`,`base_system`) WHERE is_user_repository = 1;--> statement-breakpoint
CREATE TABLE `rpms` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` integer NOT NULL,
	`base_system` text NOT NULL,
	`file_name` text NOT NULL,
	`size` integer NOT NULL,
	`md5` text NOT NULL,
	`sha256` text NOT NULL,
	`blob_id` text NOT NULL,
	`stored_bytes` integer NOT NULL,
	`is_archive` integer DEFAULT false NOT NULL,
	`nevra` text,
	`packages` text NOT NULL,
	`uploaded_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `rpms_blob_id_unique` ON `rpms` (`blob_id`);--> statement-breakpoint
CREATE INDEX `rpms_account` ON `rpms` (`account_id`,`base_system`);--> statement-breakpoint
CREATE UNIQUE INDEX `rpms_nevra` ON `rpms` (`account_id`,`base_system`,`nevra`);--> statement-breakpoint
CREATE TABLE `selections` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`appliance_id` integer NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`version` text,
	`repository_id` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `selections_appliance_kind_name` ON `selections` (`appliance_id`,`kind`,`name`);--> statement-breakpoint
CREATE TABLE `sweep_positions` (
	`prefix` text PRIMARY KEY NOT NULL,
	`cursor` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `template_sets` (
	`name` text PRIMARY KEY NOT NULL,
	`description` text NOT NULL,
	`position` integer NOT NULL,
	`catalogue` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `templates` (
	`appliance_id` integer PRIMARY KEY NOT NULL,
	`template_set` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`base_system` text NOT NULL,
	`position` integer NOT NULL,
	`catalogue` text NOT NULL,
	`hidden` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE `testdrives` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` integer NOT NULL,
	`build_id` integer NOT NULL,
	`state` text NOT NULL,
	`page_token` text NOT NULL,
	`created_at` integer NOT NULL,
	`ended_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `testdrives_page_token_unique` ON `testdrives` (`page_token`);--> statement-breakpoint
CREATE INDEX `testdrives_state` ON `testdrives` (`state`,`account_id`);--> statement-breakpoint
CREATE VIRTUAL TABLE `packages_fts` USING fts5(name, summary, content = 'packages', content_rowid = 'id', tokenize = 'trigram', detail = 'none');
--> statement-breakpoint
CREATE TRIGGER `packages_inserted` AFTER INSERT ON `packages` BEGIN
	INSERT INTO packages_fts(rowid, name, summary) VALUES (new.id, new.name, new.summary);
END;
--> statement-breakpoint
CREATE TRIGGER `packages_deleted` AFTER DELETE ON `packages` BEGIN
	INSERT INTO packages_fts(packages_fts, rowid, name, summary) VALUES ('delete', old.id, old.name, old.summary);
END;
--> statement-breakpoint
INSERT INTO sqlite_sequence (name, seq) VALUES ('appliances', 999);
