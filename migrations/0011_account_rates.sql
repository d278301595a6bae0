CREATE TABLE `account_rates` (
	`account_id` integer NOT NULL,
	`what` text NOT NULL,
	`window_number` integer NOT NULL,
	`uses` integer NOT NULL,
	PRIMARY KEY(`account_id`, `what`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
