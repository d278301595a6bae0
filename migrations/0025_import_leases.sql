ALTER TABLE `import_turns` ADD `lease_ends_at` integer;--> statement-breakpoint
CREATE INDEX `import_turns_lease` ON `import_turns` (`lease_ends_at`);