ALTER TABLE `accounts` ADD `uid` text DEFAULT '' NOT NULL;--> statement-breakpoint
UPDATE `accounts` SET `uid` = `id`;--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_uid_unique` ON `accounts` (`uid`);--> statement-breakpoint
ALTER TABLE `builds` ADD `uid` text DEFAULT '' NOT NULL;--> statement-breakpoint
UPDATE `builds` SET `uid` = `id`;--> statement-breakpoint
CREATE UNIQUE INDEX `builds_uid_unique` ON `builds` (`uid`);--> statement-breakpoint
ALTER TABLE `testdrives` ADD `uid` text DEFAULT '' NOT NULL;--> statement-breakpoint
UPDATE `testdrives` SET `uid` = `id`;--> statement-breakpoint
CREATE UNIQUE INDEX `testdrives_uid_unique` ON `testdrives` (`uid`);--> statement-breakpoint
ALTER TABLE `webhooks` ADD `uid` text DEFAULT '' NOT NULL;--> statement-breakpoint
UPDATE `webhooks` SET `uid` = `id`;--> statement-breakpoint
CREATE UNIQUE INDEX `webhooks_uid_unique` ON `webhooks` (`uid`);
