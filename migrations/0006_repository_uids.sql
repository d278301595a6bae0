ALTER TABLE `repositories` ADD `uid` text DEFAULT '' NOT NULL;--> statement-breakpoint
UPDATE `repositories` SET `uid` = `id`;--> statement-breakpoint
CREATE UNIQUE INDEX `repositories_uid_unique` ON `repositories` (`uid`);
