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
CREATE INDEX `tokens_appliance` ON `tokens` (`appliance_id`) WHERE appliance_id IS NOT NULL;