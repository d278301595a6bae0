CREATE TABLE `account_rates` (
	`account_id` integer NOT NULL,
	`what` text NOT NULL,
	`window_number` integer NOT NULL,
	`uses` integer NOT NULL,
	PRIMARY KEY(`account_id`, `what`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `account_ssh_keys` (
	`account_id` integer PRIMARY KEY NOT NULL,
	`keys` text NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `accounts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`uid` text NOT NULL,
	`username` text NOT NULL,
	`display_name` text NOT NULL,
	`email` text NOT NULL,
	`api_key_hmac` text NOT NULL,
	`api_key_cipher` text NOT NULL,
	`password_hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`locked_at` integer,
	`quota_gb` real,
	`is_operator` integer DEFAULT false NOT NULL,
	`mails_advisories` integer DEFAULT false NOT NULL,
	`removed_at` integer,
	`removal_tried_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_uid_unique` ON `accounts` (`uid`);--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_username_unique` ON `accounts` (`username`);--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_api_key_hmac_unique` ON `accounts` (`api_key_hmac`);--> statement-breakpoint
CREATE INDEX `accounts_removal` ON `accounts` (`removal_tried_at`) WHERE removed_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `agents` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`token_hmac` text NOT NULL,
	`capabilities` text,
	`created_at` integer NOT NULL,
	`last_seen_at` integer,
	`drained_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `agents_name_unique` ON `agents` (`name`);--> statement-breakpoint
CREATE UNIQUE INDEX `agents_token_hmac_unique` ON `agents` (`token_hmac`);--> statement-breakpoint
CREATE INDEX `agents_capabilities` ON `agents` (`capabilities`) WHERE capabilities IS NOT NULL;--> statement-breakpoint
CREATE INDEX `agents_seen` ON `agents` (`last_seen_at`);--> statement-breakpoint
CREATE TABLE `advisories` (
	`feed` text NOT NULL,
	`source` text NOT NULL,
	`release` text NOT NULL,
	`advisories` text NOT NULL,
	PRIMARY KEY(`feed`, `source`, `release`)
);
--> statement-breakpoint
CREATE INDEX `advisories_source` ON `advisories` (`source`,`release`);--> statement-breakpoint
CREATE TABLE `advisory_changes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`source` text DEFAULT '' NOT NULL,
	`release` text DEFAULT '' NOT NULL,
	`base_system` text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE TABLE `advisory_feeds` (
	`feed` text PRIMARY KEY NOT NULL,
	`url` text,
	`origin` text,
	`read_at` integer,
	`sources` integer DEFAULT 0 NOT NULL,
	`tried_at` integer,
	`problem` text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE TABLE `advisory_names` (
	`name` text NOT NULL,
	`source` text NOT NULL,
	PRIMARY KEY(`name`, `source`)
);
--> statement-breakpoint
CREATE TABLE `exploited_advisories` (
	`name` text PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `appliance_repositories` (
	`appliance_id` integer NOT NULL,
	`repository_id` integer NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`appliance_id`, `repository_id`)
);
--> statement-breakpoint
CREATE INDEX `appliance_repositories_repository` ON `appliance_repositories` (`repository_id`);--> statement-breakpoint
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
	`configuration_bytes` integer GENERATED ALWAYS AS (length(CAST(configuration AS BLOB))) VIRTUAL,
	`logo_blob` text,
	`background_blob` text,
	`estimated_raw_mb` integer NOT NULL,
	`estimated_compressed_mb` integer NOT NULL,
	`created_at` integer NOT NULL,
	`last_edited_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `appliances_uuid_unique` ON `appliances` (`uuid`);--> statement-breakpoint
CREATE INDEX `appliances_account` ON `appliances` (`account_id`);--> statement-breakpoint
CREATE INDEX `appliances_account_edited` ON `appliances` (`account_id`,`last_edited_at`);--> statement-breakpoint
CREATE INDEX `appliances_configuration_bytes` ON `appliances` (`account_id`,`configuration_bytes`);--> statement-breakpoint
CREATE INDEX `appliances_logo` ON `appliances` (`logo_blob`) WHERE logo_blob IS NOT NULL;--> statement-breakpoint
CREATE INDEX `appliances_background` ON `appliances` (`background_blob`) WHERE background_blob IS NOT NULL;--> statement-breakpoint
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
CREATE TABLE `audit_log` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` integer NOT NULL,
	`event` text NOT NULL,
	`actor` text NOT NULL,
	`detail` text NOT NULL,
	`address` text,
	`at` integer NOT NULL,
	`minute` integer NOT NULL,
	`count` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `audit_log_minute` ON `audit_log` (`account_id`,`minute`,`event`,`actor`,`detail`);--> statement-breakpoint
CREATE INDEX `audit_log_account` ON `audit_log` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_at` ON `audit_log` (`at`);--> statement-breakpoint
CREATE TABLE `builds` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`uid` text NOT NULL,
	`account_id` integer NOT NULL,
	`appliance_id` integer NOT NULL,
	`version` text NOT NULL,
	`image_type` text NOT NULL,
	`status` text NOT NULL,
	`needs_lvm` integer DEFAULT false NOT NULL,
	`file_system` text DEFAULT 'ext4' NOT NULL,
	`needs_efi` integer DEFAULT false NOT NULL,
	`has_secure_boot` integer DEFAULT false NOT NULL,
	`package_type` text DEFAULT 'rpm' NOT NULL,
	`builder_root` text,
	`is_background` integer DEFAULT false NOT NULL,
	`agent_id` integer,
	`made_by` integer,
	`input_sha256` text NOT NULL,
	`message` text DEFAULT '' NOT NULL,
	`percent` integer DEFAULT 0 NOT NULL,
	`retired_at` integer,
	`rebuild_of` integer,
	`rebuilt` text,
	`rebuilt_statement` text,
	`download_token` text NOT NULL,
	`image_key` text,
	`file_name` text,
	`file_size` integer,
	`raw_size` integer,
	`compressed` integer,
	`md5` text,
	`sha1` text,
	`sha256` text,
	`disk_sha256` text,
	`files_key` text,
	`files_size` integer,
	`files_sha256` text,
	`files_index_key` text,
	`files_index_size` integer,
	`delta_key` text,
	`delta_size` integer,
	`stored_bytes` integer GENERATED ALWAYS AS (file_size + coalesce(files_size, 0) + coalesce(files_index_size, 0) + coalesce(delta_size, 0)) VIRTUAL,
	`builder` text,
	`built_in` text,
	`conditions` text,
	`expired_at` integer,
	`log_position` integer,
	`has_listed_packages` integer DEFAULT false NOT NULL,
	`steps` text,
	`created_at` integer NOT NULL,
	`requeued_at` integer,
	`started_at` integer,
	`completed_at` integer,
	`wake_at` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `builds_uid_unique` ON `builds` (`uid`);--> statement-breakpoint
CREATE UNIQUE INDEX `builds_download_token_unique` ON `builds` (`download_token`);--> statement-breakpoint
CREATE INDEX `builds_appliance` ON `builds` (`appliance_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `builds_unfinished` ON `builds` (`appliance_id`,`version`,`image_type`) WHERE status IN ('queued', 'running') AND rebuild_of IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `builds_rebuilding` ON `builds` (`rebuild_of`) WHERE status IN ('queued', 'running') AND rebuild_of IS NOT NULL;--> statement-breakpoint
CREATE INDEX `builds_rebuilds` ON `builds` (`rebuild_of`,`id`) WHERE rebuild_of IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `builds_current` ON `builds` (`appliance_id`,`version`,`image_type`) WHERE status = 'finished' AND retired_at IS NULL;--> statement-breakpoint
CREATE INDEX `builds_images` ON `builds` (`appliance_id`,`id`) WHERE status = 'finished' AND retired_at IS NULL AND expired_at IS NULL;--> statement-breakpoint
CREATE INDEX `builds_file_stores` ON `builds` (`files_key`) WHERE files_key IS NOT NULL;--> statement-breakpoint
CREATE INDEX `builds_unlisted` ON `builds` (`id`) WHERE status = 'finished' AND retired_at IS NULL AND expired_at IS NULL AND has_listed_packages = 0;--> statement-breakpoint
CREATE INDEX `builds_status` ON `builds` (`status`,`id`);--> statement-breakpoint
CREATE INDEX `builds_input` ON `builds` (`input_sha256`);--> statement-breakpoint
CREATE INDEX `builds_stored` ON `builds` (`account_id`,`retired_at`,`expired_at`,`stored_bytes`);--> statement-breakpoint
CREATE INDEX `builds_unfinished_account` ON `builds` (`account_id`) WHERE status IN ('queued', 'running');--> statement-breakpoint
CREATE INDEX `builds_timed` ON `builds` (`image_type`,`id`) WHERE status = 'finished';--> statement-breakpoint
CREATE INDEX `builds_expirable` ON `builds` (`status`,`completed_at`) WHERE image_key IS NOT NULL AND retired_at IS NULL;--> statement-breakpoint
CREATE INDEX `builds_imageless` ON `builds` (`expired_at`,`completed_at`) WHERE image_key IS NULL AND retired_at IS NULL AND status NOT IN ('queued', 'running');--> statement-breakpoint
CREATE INDEX `builds_retired` ON `builds` (`retired_at`) WHERE retired_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `builds_wake` ON `builds` (`wake_at`) WHERE status IN ('queued', 'running');--> statement-breakpoint
CREATE TABLE `testdrives` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`uid` text NOT NULL,
	`account_id` integer NOT NULL,
	`build_id` integer NOT NULL,
	`state` text NOT NULL,
	`page_token` text NOT NULL,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	`web_token` text,
	`is_check` integer DEFAULT false NOT NULL,
	`agent_id` integer,
	`wake_at` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `testdrives_uid_unique` ON `testdrives` (`uid`);--> statement-breakpoint
CREATE UNIQUE INDEX `testdrives_page_token_unique` ON `testdrives` (`page_token`);--> statement-breakpoint
CREATE INDEX `testdrives_state` ON `testdrives` (`state`,`account_id`);--> statement-breakpoint
CREATE INDEX `testdrives_build` ON `testdrives` (`build_id`,`state`);--> statement-breakpoint
CREATE INDEX `testdrives_agent` ON `testdrives` (`agent_id`) WHERE state IN ('new', 'running');--> statement-breakpoint
CREATE INDEX `testdrives_wake` ON `testdrives` (`wake_at`) WHERE state IN ('new', 'running');--> statement-breakpoint
CREATE TABLE `channel_versions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`appliance_id` integer NOT NULL,
	`channel` text NOT NULL,
	`publication_id` integer NOT NULL,
	`moved_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `channel_versions_channel` ON `channel_versions` (`appliance_id`,`channel`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `channel_versions_publication` ON `channel_versions` (`publication_id`,`channel`);--> statement-breakpoint
CREATE TABLE `channels` (
	`appliance_id` integer NOT NULL,
	`name` text NOT NULL,
	`is_automatic` integer NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`appliance_id`, `name`)
);
--> statement-breakpoint
CREATE TABLE `check_runs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`uid` text NOT NULL,
	`account_id` integer NOT NULL,
	`build_id` integer NOT NULL,
	`state` text NOT NULL,
	`checks` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`testdrive_uid` text,
	`results` text,
	`login_seconds` real,
	`is_emulated` integer,
	`console` text DEFAULT '' NOT NULL,
	`screen_blob` text,
	`is_machine_kept` integer DEFAULT false NOT NULL,
	`message` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	`wake_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `check_runs_uid_unique` ON `check_runs` (`uid`);--> statement-breakpoint
CREATE UNIQUE INDEX `check_runs_unfinished` ON `check_runs` (`build_id`) WHERE state IN ('waiting', 'running');--> statement-breakpoint
CREATE INDEX `check_runs_build` ON `check_runs` (`build_id`,`id`);--> statement-breakpoint
CREATE INDEX `check_runs_account` ON `check_runs` (`account_id`);--> statement-breakpoint
CREATE INDEX `check_runs_waiting` ON `check_runs` (`account_id`,`id`) WHERE state = 'waiting';--> statement-breakpoint
CREATE INDEX `check_runs_testdrive` ON `check_runs` (`testdrive_uid`) WHERE testdrive_uid IS NOT NULL;--> statement-breakpoint
CREATE INDEX `check_runs_screen` ON `check_runs` (`screen_blob`) WHERE screen_blob IS NOT NULL;--> statement-breakpoint
CREATE INDEX `check_runs_wake` ON `check_runs` (`wake_at`) WHERE state IN ('waiting', 'running');--> statement-breakpoint
CREATE TABLE `gpg_keys` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`appliance_id` integer NOT NULL,
	`name` text NOT NULL,
	`target` text NOT NULL,
	`fingerprint` text NOT NULL,
	`key` text NOT NULL,
	`created_at` integer NOT NULL,
	`request_id` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `gpg_keys_request_id_unique` ON `gpg_keys` (`request_id`);--> statement-breakpoint
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
	`created_at` integer NOT NULL,
	`request_id` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `overlay_files_request_id_unique` ON `overlay_files` (`request_id`);--> statement-breakpoint
CREATE INDEX `overlay_files_appliance` ON `overlay_files` (`appliance_id`,`id`);--> statement-breakpoint
CREATE INDEX `overlay_files_blob` ON `overlay_files` (`blob_id`);--> statement-breakpoint
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
CREATE INDEX `event_outbox_account` ON `event_outbox` (`account_id`);--> statement-breakpoint
CREATE TABLE `webhooks` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`uid` text NOT NULL,
	`account_id` integer NOT NULL,
	`url` text NOT NULL,
	`events` text NOT NULL,
	`secret_cipher` text NOT NULL,
	`created_at` integer NOT NULL,
	`failing_since` integer,
	`disabled_reason` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhooks_uid_unique` ON `webhooks` (`uid`);--> statement-breakpoint
CREATE INDEX `webhooks_account` ON `webhooks` (`account_id`);--> statement-breakpoint
CREATE TABLE `comments` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`appliance_id` integer NOT NULL,
	`account_id` integer NOT NULL,
	`parent_id` integer,
	`text` text NOT NULL,
	`created_at` integer NOT NULL,
	`request_id` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `comments_request_id_unique` ON `comments` (`request_id`);--> statement-breakpoint
CREATE INDEX `comments_appliance` ON `comments` (`appliance_id`,`id`);--> statement-breakpoint
CREATE INDEX `comments_account` ON `comments` (`account_id`);--> statement-breakpoint
CREATE TABLE `gallery_listings` (
	`appliance_id` integer PRIMARY KEY NOT NULL,
	`publication_id` integer NOT NULL,
	`account_id` integer NOT NULL,
	`popularity` real NOT NULL,
	`rating` real NOT NULL,
	`clones` integer NOT NULL,
	`testdrives` integer NOT NULL,
	`downloads` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `gallery_listings_publication` ON `gallery_listings` (`publication_id`);--> statement-breakpoint
CREATE INDEX `gallery_listings_account` ON `gallery_listings` (`account_id`,`publication_id`);--> statement-breakpoint
CREATE INDEX `gallery_listings_popularity` ON `gallery_listings` (`popularity`,`publication_id`);--> statement-breakpoint
CREATE INDEX `gallery_listings_rating` ON `gallery_listings` (`rating`,`publication_id`);--> statement-breakpoint
CREATE TABLE `gallery_size` (
	`id` integer PRIMARY KEY NOT NULL,
	`appliances` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `gallery_uses` (
	`appliance_id` integer NOT NULL,
	`account_id` integer NOT NULL,
	`kind` text NOT NULL,
	PRIMARY KEY(`appliance_id`, `account_id`, `kind`)
);
--> statement-breakpoint
CREATE INDEX `gallery_uses_account` ON `gallery_uses` (`account_id`);--> statement-breakpoint
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
	`screen_blob` text,
	`wants_screen` integer DEFAULT true NOT NULL,
	`published_at` integer NOT NULL,
	`is_logged` integer DEFAULT false NOT NULL,
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
CREATE INDEX `publications_screen` ON `publications` (`screen_blob`);--> statement-breakpoint
CREATE INDEX `publications_unlogged` ON `publications` (`id`) WHERE is_logged = 0;--> statement-breakpoint
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
CREATE INDEX `ratings_account` ON `ratings` (`account_id`);--> statement-breakpoint
CREATE TABLE `shares` (
	`appliance_id` integer NOT NULL,
	`account_id` integer NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`appliance_id`, `account_id`)
);
--> statement-breakpoint
CREATE INDEX `shares_account` ON `shares` (`account_id`);--> statement-breakpoint
CREATE TABLE `image_packages` (
	`account_id` integer NOT NULL,
	`build_id` integer NOT NULL,
	`is_counted` integer DEFAULT false NOT NULL,
	`advisories` text,
	`packages` text NOT NULL,
	PRIMARY KEY(`account_id`, `build_id`)
);
--> statement-breakpoint
CREATE INDEX `image_packages_build` ON `image_packages` (`build_id`);--> statement-breakpoint
CREATE INDEX `image_packages_uncounted` ON `image_packages` (`account_id`,`build_id`) WHERE is_counted = 0;--> statement-breakpoint
CREATE TABLE `package_versions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`base_system` text NOT NULL,
	`version` text NOT NULL,
	`arch` text NOT NULL,
	`source` text NOT NULL,
	`source_version` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `package_versions_name` ON `package_versions` (`name`,`base_system`,`version`,`arch`,`source`,`source_version`);--> statement-breakpoint
CREATE INDEX `package_versions_source` ON `package_versions` (`source`,`base_system`);--> statement-breakpoint
CREATE INDEX `package_versions_base` ON `package_versions` (`base_system`);--> statement-breakpoint
CREATE TABLE `import_turns` (
	`repository_id` integer PRIMARY KEY NOT NULL,
	`account_id` integer NOT NULL,
	`patience` text NOT NULL,
	`asked_at` integer NOT NULL,
	`sent_at` integer,
	`lease_ends_at` integer,
	`tries` integer NOT NULL,
	FOREIGN KEY (`repository_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `import_turns_line` ON `import_turns` (`account_id`,`patience`,`sent_at`);--> statement-breakpoint
CREATE INDEX `import_turns_sent` ON `import_turns` (`sent_at`);--> statement-breakpoint
CREATE INDEX `import_turns_lease` ON `import_turns` (`lease_ends_at`);--> statement-breakpoint
CREATE TABLE `chore_runs` (
	`chore` text PRIMARY KEY NOT NULL,
	`succeeded_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `counters` (
	`name` text NOT NULL,
	`label` text NOT NULL,
	`value` integer NOT NULL,
	`changed_at` integer NOT NULL,
	PRIMARY KEY(`name`, `label`)
);
--> statement-breakpoint
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
CREATE TABLE `base_systems` (
	`name` text PRIMARY KEY NOT NULL,
	`catalogue` text NOT NULL,
	`facts` text NOT NULL
);
--> statement-breakpoint
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
CREATE TABLE `name_pages` (
	`import_id` text NOT NULL,
	`first` text NOT NULL,
	`last` text NOT NULL,
	`names` text NOT NULL,
	PRIMARY KEY(`import_id`, `first`)
);
--> statement-breakpoint
CREATE TABLE `packages` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
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
CREATE TABLE `repositories` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`uid` text NOT NULL,
	`account_id` integer,
	`name` text NOT NULL,
	`url` text NOT NULL,
	`type` text NOT NULL,
	`base_system` text NOT NULL,
	`arches` text NOT NULL,
	`priority` integer DEFAULT 99 NOT NULL,
	`purpose` text,
	`catalogue` text,
	`is_user_repository` integer DEFAULT false NOT NULL,
	`import_state` text DEFAULT 'importing' NOT NULL,
	`import_progress` text,
	`revision` text,
	`parts` text DEFAULT '[]' NOT NULL,
	`import_id` text,
	`package_count` integer DEFAULT 0 NOT NULL,
	`packages_folder` text DEFAULT '' NOT NULL,
	`snapshots` text,
	`snapshot_url` text,
	`signer` text,
	`signing_keys` text,
	`accepts_expired` integer DEFAULT false NOT NULL,
	`index_tag` text,
	`check_id` text,
	`checked_at` integer,
	`imported_at` integer,
	`problem` text,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `repositories_uid_unique` ON `repositories` (`uid`);--> statement-breakpoint
CREATE UNIQUE INDEX `repositories_catalogue_url` ON `repositories` (`catalogue`,`url`);--> statement-breakpoint
CREATE UNIQUE INDEX `repositories_account_url` ON `repositories` (`account_id`,`url`);--> statement-breakpoint
CREATE UNIQUE INDEX `repositories_user` ON `repositories` (`account_id`,`base_system`) WHERE is_user_repository = 1;--> statement-breakpoint
CREATE INDEX `repositories_users` ON `repositories` (`id`) WHERE is_user_repository = 1;--> statement-breakpoint
CREATE INDEX `repositories_import` ON `repositories` (`import_id`);--> statement-breakpoint
CREATE INDEX `repositories_url` ON `repositories` (`url`);--> statement-breakpoint
CREATE INDEX `repositories_failed` ON `repositories` (`import_state`) WHERE import_state = 'failed';--> statement-breakpoint
CREATE INDEX `repositories_checked` ON `repositories` (`checked_at`) WHERE url NOT LIKE 'service:%';--> statement-breakpoint
CREATE INDEX `repositories_problem` ON `repositories` (`id`) WHERE problem IS NOT NULL;--> statement-breakpoint
CREATE TABLE `repository_states` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repository_id` integer NOT NULL,
	`import_id` text NOT NULL,
	`revision` text NOT NULL,
	`parts` text NOT NULL,
	`packages_folder` text NOT NULL,
	`snapshot_url` text,
	`signer` text,
	`signing_keys` text,
	`imported_at` integer NOT NULL,
	`replaced_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `repository_states_repository` ON `repository_states` (`repository_id`,`replaced_at`);--> statement-breakpoint
CREATE INDEX `repository_states_import` ON `repository_states` (`import_id`);--> statement-breakpoint
CREATE INDEX `repository_states_replaced` ON `repository_states` (`replaced_at`);--> statement-breakpoint
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
	`request_id` text,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `rpms_blob_id_unique` ON `rpms` (`blob_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `rpms_request_id_unique` ON `rpms` (`request_id`);--> statement-breakpoint
CREATE INDEX `rpms_account` ON `rpms` (`account_id`,`base_system`);--> statement-breakpoint
CREATE UNIQUE INDEX `rpms_nevra` ON `rpms` (`account_id`,`base_system`,`nevra`);--> statement-breakpoint
CREATE TABLE `reservations` (
	`blob_id` text PRIMARY KEY NOT NULL,
	`account_id` integer NOT NULL,
	`bytes` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `reservations_account` ON `reservations` (`account_id`,`expires_at`,`blob_id`,`bytes`);--> statement-breakpoint
CREATE INDEX `reservations_expires` ON `reservations` (`expires_at`);--> statement-breakpoint
CREATE TABLE `last_images` (
	`appliance_id` integer PRIMARY KEY NOT NULL,
	`question` text NOT NULL,
	`packages` text,
	FOREIGN KEY (`appliance_id`) REFERENCES `appliances`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `last_statuses` (
	`appliance_id` integer PRIMARY KEY NOT NULL,
	`errors` integer NOT NULL,
	`warnings` integer NOT NULL,
	`text` text NOT NULL,
	`packages` integer,
	`edited_at` integer NOT NULL,
	`examined_at` integer NOT NULL,
	FOREIGN KEY (`appliance_id`) REFERENCES `appliances`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `resumable_upload_parts` (
	`upload_id` integer NOT NULL,
	`number` integer NOT NULL,
	`etag` text NOT NULL,
	PRIMARY KEY(`upload_id`, `number`),
	FOREIGN KEY (`upload_id`) REFERENCES `resumable_uploads`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `resumable_uploads` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` integer NOT NULL,
	`appliance_id` integer,
	`base_system` text,
	`metadata` text,
	`sent_name` text,
	`length` integer NOT NULL,
	`received_bytes` integer DEFAULT 0 NOT NULL,
	`blob_id` text NOT NULL,
	`multipart_id` text NOT NULL,
	`lease_id` text,
	`lease_ends_at` integer,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`finished_at` integer,
	`made_id` integer,
	`request_id` text,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `resumable_uploads_blob_id_unique` ON `resumable_uploads` (`blob_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `resumable_uploads_request_id_unique` ON `resumable_uploads` (`request_id`);--> statement-breakpoint
CREATE INDEX `resumable_uploads_account` ON `resumable_uploads` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `resumable_uploads_unfinished` ON `resumable_uploads` (`account_id`,`length`) WHERE finished_at IS NULL;--> statement-breakpoint
CREATE INDEX `resumable_uploads_expires` ON `resumable_uploads` (`expires_at`);--> statement-breakpoint
CREATE TABLE `schematics` (
	`sha256` text NOT NULL,
	`account_id` integer NOT NULL,
	`appliance_id` integer NOT NULL,
	`edited_at` integer NOT NULL,
	PRIMARY KEY(`sha256`, `account_id`)
);
--> statement-breakpoint
CREATE INDEX `schematics_appliance` ON `schematics` (`appliance_id`);--> statement-breakpoint
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
	`request_id` text NOT NULL,
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
CREATE INDEX `released_blobs_at` ON `released_blobs` (`released_at`);--> statement-breakpoint
CREATE TABLE `service_settings` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `sweep_positions` (
	`prefix` text PRIMARY KEY NOT NULL,
	`cursor` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` integer NOT NULL,
	`secret_hmac` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`browser` text NOT NULL,
	`network` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_secret_hmac_unique` ON `sessions` (`secret_hmac`);--> statement-breakpoint
CREATE INDEX `sessions_account` ON `sessions` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `sessions_expires` ON `sessions` (`expires_at`);--> statement-breakpoint
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
CREATE TABLE `tokens` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`uid` text NOT NULL,
	`account_id` integer NOT NULL,
	`name` text NOT NULL,
	`scope` text NOT NULL,
	`appliance_id` integer,
	`token_hmac` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`last_used_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tokens_uid_unique` ON `tokens` (`uid`);--> statement-breakpoint
CREATE UNIQUE INDEX `tokens_token_hmac_unique` ON `tokens` (`token_hmac`);--> statement-breakpoint
CREATE INDEX `tokens_account` ON `tokens` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `tokens_appliance` ON `tokens` (`appliance_id`) WHERE appliance_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `image_updates` (
	`build_id` integer PRIMARY KEY NOT NULL,
	`appliance_id` integer NOT NULL,
	`contents` text NOT NULL,
	`newer` integer NOT NULL,
	`security` integer NOT NULL,
	`looked_at` integer NOT NULL,
	`announced` text DEFAULT '{}' NOT NULL
);
--> statement-breakpoint
CREATE INDEX `image_updates_appliance` ON `image_updates` (`appliance_id`);--> statement-breakpoint
CREATE TABLE `watch_turns` (
	`account_id` integer PRIMARY KEY NOT NULL,
	`due_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `watch_turns_due` ON `watch_turns` (`due_at`);--> statement-breakpoint
CREATE TABLE `watches` (
	`appliance_id` integer PRIMARY KEY NOT NULL,
	`account_id` integer NOT NULL,
	`look_at` integer NOT NULL,
	`automatic_state` text,
	`automatic_from` text,
	`automatic_version` text,
	`automatic_builds` text DEFAULT '[]' NOT NULL,
	`automatic_contents` text,
	`automatic_message` text DEFAULT '' NOT NULL,
	`automatic_at` integer,
	`automatic_edited_at` integer,
	`automatic_publication` text
);
--> statement-breakpoint
CREATE INDEX `watches_turn` ON `watches` (`account_id`,`look_at`);--> statement-breakpoint
CREATE TABLE `vex_statements` (
	`appliance_id` integer NOT NULL,
	`advisory` text NOT NULL,
	`build_id` integer NOT NULL,
	`status` text NOT NULL,
	`justification` text,
	`text` text NOT NULL,
	`stated_at` integer NOT NULL,
	PRIMARY KEY(`appliance_id`, `advisory`, `build_id`)
);
--> statement-breakpoint
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
CREATE VIRTUAL TABLE `publications_fts` USING fts5(name, description, tags, publisher, username, packages, content = 'publications', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3');
--> statement-breakpoint
CREATE TRIGGER `publications_inserted` AFTER INSERT ON `publications` BEGIN
	INSERT INTO publications_fts(rowid, name, description, tags, publisher, username, packages) VALUES (new.id, new.name, new.description, new.tags, new.publisher, new.username, new.packages);
END;
--> statement-breakpoint
CREATE TRIGGER `publications_deleted` AFTER DELETE ON `publications` BEGIN
	INSERT INTO publications_fts(publications_fts, rowid, name, description, tags, publisher, username, packages) VALUES ('delete', old.id, old.name, old.description, old.tags, old.publisher, old.username, old.packages);
END;
--> statement-breakpoint
CREATE TRIGGER `gallery_listings_inserted` AFTER INSERT ON `gallery_listings` BEGIN
	INSERT INTO gallery_size (id, appliances) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET appliances = appliances + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `gallery_listings_deleted` AFTER DELETE ON `gallery_listings` BEGIN
	UPDATE gallery_size SET appliances = appliances - 1;
END;
--> statement-breakpoint
CREATE TRIGGER `check_runs_of_build` AFTER DELETE ON `builds` BEGIN
	INSERT OR REPLACE INTO released_blobs (blob_id, released_at) SELECT screen_blob, CAST(unixepoch('subsec') * 1000 AS INTEGER) FROM check_runs WHERE build_id = old.id AND screen_blob IS NOT NULL;
	DELETE FROM check_runs WHERE build_id = old.id;
END;
--> statement-breakpoint
CREATE TRIGGER `image_updates_of_build` AFTER DELETE ON `builds` BEGIN
	DELETE FROM image_updates WHERE build_id = old.id;
END;
--> statement-breakpoint
CREATE TRIGGER `image_packages_of_build` AFTER DELETE ON `builds` BEGIN
	DELETE FROM image_packages WHERE build_id = old.id;
END;
--> statement-breakpoint
CREATE TRIGGER `image_packages_of_image` AFTER UPDATE OF `retired_at`, `expired_at` ON `builds` WHEN new.retired_at IS NOT NULL OR new.expired_at IS NOT NULL BEGIN
	DELETE FROM image_packages WHERE build_id = old.id;
END;
--> statement-breakpoint
CREATE TRIGGER `vex_statements_of_build` AFTER DELETE ON `builds` BEGIN
	DELETE FROM vex_statements WHERE appliance_id = old.appliance_id AND build_id = old.id;
END;
--> statement-breakpoint
CREATE TRIGGER `rebuilds_of_build` AFTER DELETE ON `builds` BEGIN
	UPDATE builds SET retired_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) WHERE rebuild_of = old.id AND rebuild_of IS NOT NULL;
END;
--> statement-breakpoint
CREATE TRIGGER `advisories_added` AFTER INSERT ON `advisories` BEGIN
	INSERT INTO advisory_changes (source, release) VALUES (new.source, new.release);
END;
--> statement-breakpoint
CREATE TRIGGER `advisories_changed` AFTER UPDATE OF `advisories` ON `advisories` BEGIN
	INSERT INTO advisory_changes (source, release) VALUES (new.source, new.release);
END;
--> statement-breakpoint
CREATE TRIGGER `advisories_deleted` AFTER DELETE ON `advisories` BEGIN
	INSERT INTO advisory_changes (source, release) VALUES (old.source, old.release);
END;
--> statement-breakpoint
CREATE TRIGGER `exploited_added` AFTER INSERT ON `exploited_advisories` BEGIN
	INSERT INTO advisory_changes (source, release) SELECT a.source, a.release FROM advisory_names AS n CROSS JOIN advisories AS a ON a.source = n.source WHERE n.name = new.name;
END;
--> statement-breakpoint
CREATE TRIGGER `exploited_deleted` AFTER DELETE ON `exploited_advisories` BEGIN
	INSERT INTO advisory_changes (source, release) SELECT a.source, a.release FROM advisory_names AS n CROSS JOIN advisories AS a ON a.source = n.source WHERE n.name = old.name;
END;
--> statement-breakpoint
CREATE TRIGGER `advisories_of_base` AFTER UPDATE OF `facts` ON `base_systems` WHEN old.facts -> 'advisories' IS NOT new.facts -> 'advisories' BEGIN
	INSERT INTO advisory_changes (base_system) VALUES (new.name);
END;
--> statement-breakpoint
CREATE TRIGGER `watches_added` AFTER INSERT ON `watches` BEGIN
	INSERT INTO watch_turns (account_id, due_at) VALUES (new.account_id, new.look_at) ON CONFLICT (account_id) DO UPDATE SET due_at = excluded.due_at WHERE excluded.due_at < due_at;
END;
--> statement-breakpoint
CREATE TRIGGER `watches_due_earlier` AFTER UPDATE OF `look_at` ON `watches` WHEN new.look_at < old.look_at BEGIN
	UPDATE watch_turns SET due_at = new.look_at WHERE account_id = new.account_id AND due_at > new.look_at;
END;
--> statement-breakpoint
CREATE TRIGGER `watches_deleted` AFTER DELETE ON `watches` BEGIN
	DELETE FROM watch_turns WHERE account_id = old.account_id AND NOT EXISTS (SELECT 1 FROM watches WHERE account_id = old.account_id);
END;
--> statement-breakpoint
INSERT INTO sqlite_sequence (name, seq) VALUES ('appliances', 999);
