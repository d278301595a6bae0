CREATE TABLE `chore_runs` (
	`chore` text PRIMARY KEY NOT NULL,
	`succeeded_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `counters` (
	`name` text NOT NULL,
	`label` text NOT NULL,
	`value` integer NOT NULL,
	`changed_at` integer NOT NULL,
	PRIMARY KEY(`name`, `label`)
);
--> statement-breakpoint
ALTER TABLE `builds` ADD `requeued_at` integer;--> statement-breakpoint
CREATE INDEX `repositories_failed` ON `repositories` (`import_state`) WHERE import_state = 'failed';