import type { databaseTypes } from "#documents/configuration";

export const databaseWords: Readonly<Record<(typeof databaseTypes)[number], string>> = {
  pgsql: "PostgreSQL",
  mysql: "MySQL or MariaDB",
};
