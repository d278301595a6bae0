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
CREATE INDEX `sessions_expires` ON `sessions` (`expires_at`);