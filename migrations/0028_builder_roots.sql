ALTER TABLE `builds` ADD `builder_root` text;--> statement-breakpoint
ALTER TABLE `builds` ADD `built_in` text;