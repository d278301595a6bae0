CREATE TABLE `name_pages` (
	`import_id` text NOT NULL,
	`first` text NOT NULL,
	`last` text NOT NULL,
	`names` text NOT NULL,
	PRIMARY KEY(`import_id`, `first`)
);
