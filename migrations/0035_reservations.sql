CREATE TABLE `reservations` (
	`blob_id` text PRIMARY KEY NOT NULL,
	`account_id` integer NOT NULL,
	`bytes` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `reservations_account` ON `reservations` (`account_id`,`expires_at`,`blob_id`,`bytes`);--> statement-breakpoint
CREATE INDEX `reservations_expires` ON `reservations` (`expires_at`);