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
CREATE INDEX `resumable_uploads_expires` ON `resumable_uploads` (`expires_at`);