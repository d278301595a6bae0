ALTER TABLE `accounts` ADD `is_operator` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `agents` ADD `drained_at` integer;--> statement-breakpoint
CREATE INDEX `repositories_problem` ON `repositories` (`id`) WHERE problem IS NOT NULL;