DROP INDEX `builds_stored`;--> statement-breakpoint
ALTER TABLE `builds` ADD `stored_bytes` integer GENERATED ALWAYS AS (file_size + coalesce(files_size, 0) + coalesce(files_index_size, 0)) VIRTUAL;--> statement-breakpoint
CREATE INDEX `builds_stored` ON `builds` (`account_id`,`retired_at`,`expired_at`,`stored_bytes`);