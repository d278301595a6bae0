CREATE INDEX `appliances_logo` ON `appliances` (`logo_blob`) WHERE logo_blob IS NOT NULL;--> statement-breakpoint
CREATE INDEX `appliances_background` ON `appliances` (`background_blob`) WHERE background_blob IS NOT NULL;--> statement-breakpoint
CREATE INDEX `builds_stored` ON `builds` (`account_id`,`retired_at`,`expired_at`,`file_size`,`files_size`,`files_index_size`);--> statement-breakpoint
CREATE INDEX `builds_unfinished_account` ON `builds` (`account_id`) WHERE status IN ('queued', 'running');--> statement-breakpoint
CREATE INDEX `builds_timed` ON `builds` (`image_type`,`id`) WHERE status = 'finished';--> statement-breakpoint
CREATE INDEX `builds_expirable` ON `builds` (`status`,`completed_at`) WHERE image_key IS NOT NULL AND retired_at IS NULL;--> statement-breakpoint
CREATE INDEX `builds_retired` ON `builds` (`retired_at`) WHERE retired_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `testdrives_build` ON `testdrives` (`build_id`,`state`);--> statement-breakpoint
CREATE INDEX `event_outbox_account` ON `event_outbox` (`account_id`);--> statement-breakpoint
CREATE INDEX `repositories_url` ON `repositories` (`url`);--> statement-breakpoint
CREATE INDEX `repositories_checked` ON `repositories` (`checked_at`) WHERE url NOT LIKE 'service:%';--> statement-breakpoint
CREATE INDEX `released_blobs_at` ON `released_blobs` (`released_at`);