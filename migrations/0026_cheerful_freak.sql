CREATE TABLE `last_statuses` (
	`appliance_id` integer PRIMARY KEY NOT NULL,
	`errors` integer NOT NULL,
	`warnings` integer NOT NULL,
	`text` text NOT NULL,
	`edited_at` integer NOT NULL,
	`examined_at` integer NOT NULL,
	FOREIGN KEY (`appliance_id`) REFERENCES `appliances`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `appliances_account_edited` ON `appliances` (`account_id`,`last_edited_at`);