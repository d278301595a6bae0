ALTER TABLE `appliances` ADD `configuration_bytes` integer GENERATED ALWAYS AS (length(CAST(configuration AS BLOB))) VIRTUAL;--> statement-breakpoint
CREATE INDEX `appliances_configuration_bytes` ON `appliances` (`account_id`,`configuration_bytes`);--> statement-breakpoint
CREATE INDEX `comments_account` ON `comments` (`account_id`);