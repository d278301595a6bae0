CREATE TABLE `import_turns` (
	`repository_id` integer PRIMARY KEY NOT NULL,
	`account_id` integer NOT NULL,
	`patience` text NOT NULL,
	`asked_at` integer NOT NULL,
	`sent_at` integer,
	`tries` integer NOT NULL,
	FOREIGN KEY (`repository_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `import_turns_line` ON `import_turns` (`account_id`,`patience`,`sent_at`);--> statement-breakpoint
CREATE INDEX `import_turns_sent` ON `import_turns` (`sent_at`);