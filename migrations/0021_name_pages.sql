CREATE TABLE `name_pages` (
	`import_id` text NOT NULL,
	`first` text NOT NULL,
	`last` text NOT NULL,
	`names` text NOT NULL,
	PRIMARY KEY(`import_id`, `first`)
);
--> statement-breakpoint
INSERT INTO `name_pages` (`import_id`, `first`, `last`, `names`)
SELECT import_id, min(name), max(name), group_concat(lower(name), char(10)) FROM (
	SELECT import_id, name, (row_number() OVER (PARTITION BY import_id ORDER BY name) - 1) / 32 AS page
	FROM (SELECT DISTINCT import_id, name FROM packages))
GROUP BY import_id, page;
