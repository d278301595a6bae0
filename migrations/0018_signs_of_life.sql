DROP INDEX `accounts_removed`;--> statement-breakpoint
ALTER TABLE `accounts` ADD `removal_tried_at` integer;--> statement-breakpoint
CREATE INDEX `accounts_removal` ON `accounts` (`removal_tried_at`) WHERE removed_at IS NOT NULL;--> statement-breakpoint
ALTER TABLE `builds` ADD `wake_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `builds_wake` ON `builds` (`wake_at`) WHERE status IN ('queued', 'running');--> statement-breakpoint
ALTER TABLE `testdrives` ADD `agent_id` integer;--> statement-breakpoint
ALTER TABLE `testdrives` ADD `wake_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `testdrives_agent` ON `testdrives` (`agent_id`) WHERE state IN ('new', 'running');--> statement-breakpoint
CREATE INDEX `testdrives_wake` ON `testdrives` (`wake_at`) WHERE state IN ('new', 'running');