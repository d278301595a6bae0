ALTER TABLE `accounts` ADD `removed_at` integer;--> statement-breakpoint
CREATE INDEX `accounts_removed` ON `accounts` (`removed_at`) WHERE removed_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `gallery_uses_account` ON `gallery_uses` (`account_id`);--> statement-breakpoint
CREATE INDEX `ratings_account` ON `ratings` (`account_id`);