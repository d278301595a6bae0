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
CREATE INDEX `audit_log_at` ON `audit_log` (`at`);