ALTER TABLE `gpg_keys` ADD `request_id` text;--> statement-breakpoint
CREATE UNIQUE INDEX `gpg_keys_request_id_unique` ON `gpg_keys` (`request_id`);--> statement-breakpoint
ALTER TABLE `overlay_files` ADD `request_id` text;--> statement-breakpoint
CREATE UNIQUE INDEX `overlay_files_request_id_unique` ON `overlay_files` (`request_id`);--> statement-breakpoint
ALTER TABLE `comments` ADD `request_id` text;--> statement-breakpoint
CREATE UNIQUE INDEX `comments_request_id_unique` ON `comments` (`request_id`);--> statement-breakpoint
ALTER TABLE `rpms` ADD `request_id` text;--> statement-breakpoint
CREATE UNIQUE INDEX `rpms_request_id_unique` ON `rpms` (`request_id`);--> statement-breakpoint
ALTER TABLE `idempotent_answers` ADD `request_id` text DEFAULT '' NOT NULL;--> statement-breakpoint
UPDATE `idempotent_answers` SET `request_id` = lower(hex(randomblob(16)));