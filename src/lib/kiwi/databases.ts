import type { DatabaseFacts, ImageFacts } from "#lib/kiwi/facts";
import { linesOf, type Part } from "#lib/kiwi/part";

/**
 * Databases and their users, created at the first boot by the installed server. Names and verifiers need no escaping:
 * names are plain SQL names, and verifiers contain no quote (domain/configuration/rules,
 * domain/accounts/password-hashes).
 */
export function databasePart({ databases }: Pick<ImageFacts, "databases">): Part {
  const wanted = databases.filter(({ users }) => users.length > 0);
  if (wanted.length === 0) return {};
  const scripts = wanted.map(({ type, users }) => [`root/usr/lib/kiln/databases/${type}.sql`, statements[type](users)]);
  return {
    files: { ...Object.fromEntries(scripts), "root/usr/lib/kiln/make-databases": makeDatabases },
    // The files contain password verifiers.
    commands: [
      "chmod 700 /usr/lib/kiln/databases",
      "chmod 600 /usr/lib/kiln/databases/*",
      ...wanted.flatMap(serverCommands),
    ],
  };
}

type Users = DatabaseFacts["users"];

const statements: Record<DatabaseFacts["type"], (users: Users) => string> = {
  pgsql: (users) => linesOf(...users.flatMap(postgresUser), ...usersByDatabase(users).flatMap(postgresDatabase)),
  mysql: (users) => linesOf(...users.map(mysqlUser), ...usersByDatabase(users).flatMap(mysqlDatabase)),
};

/** Each database with its users. The first one owns it. */
function usersByDatabase(users: Users): [database: string, users: string[]][] {
  const all = users.flatMap(({ username, databases }) => [...new Set(databases)].map((name) => ({ name, username })));
  const grouped = Map.groupBy(all, ({ name }) => name);
  return [...grouped].map(([name, entries]) => [name, entries.map(({ username }) => username)]);
}

// psql's \gexec runs the result of a query as a command: PostgreSQL's CREATE has no IF NOT EXISTS.
const postgresUser = ({ username, verifier }: Users[number]): string[] => [
  String.raw`SELECT 'CREATE ROLE "${username}"' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${username}') \gexec`,
  `ALTER ROLE "${username}" LOGIN PASSWORD '${verifier}';`,
];

/** As with MySQL, only its users may use a database, and each may use the tables that the others create. */
function postgresDatabase([name, users]: [string, string[]]): string[] {
  const all = users.map((user) => `"${user}"`).join(", ");
  const shared = (kind: string) => `ALTER DEFAULT PRIVILEGES FOR ROLE ${all} GRANT ALL ON ${kind} TO ${all};`;
  return [
    String.raw`SELECT 'CREATE DATABASE "${name}" OWNER "${users[0] ?? ""}"' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '${name}') \gexec`,
    `REVOKE ALL ON DATABASE "${name}" FROM PUBLIC;`,
    `GRANT ALL ON DATABASE "${name}" TO ${all};`,
    String.raw`\connect "${name}"`,
    // Since PostgreSQL 15, only the owner of a database may create tables in it.
    `GRANT ALL ON SCHEMA public TO ${all};`,
    ...["TABLES", "SEQUENCES"].map(shared),
  ];
}

const mysqlUser = ({ username, verifier }: Users[number]): string =>
  `CREATE USER IF NOT EXISTS '${username}'@'localhost' IDENTIFIED WITH mysql_native_password AS '${verifier}';`;

const mysqlDatabase = ([name, users]: [string, string[]]): string[] => [
  `CREATE DATABASE IF NOT EXISTS \`${name}\`;`,
  // In the database name of a GRANT, an unescaped underscore matches any character.
  ...users.map((user) => `GRANT ALL ON \`${name.replaceAll("_", String.raw`\_`)}\`.* TO '${user}'@'localhost';`),
];

/** `programs` are the possible names of the server's command line client. */
const servers: Record<DatabaseFacts["type"], { programs: string[]; server: string; services: string[] }> = {
  pgsql: { programs: ["psql"], server: "PostgreSQL", services: ["postgresql"] },
  mysql: { programs: ["mariadb", "mysql"], server: "MySQL or MariaDB", services: ["mariadb", "mysql", "mysqld"] },
};

function serverCommands({ type }: DatabaseFacts): string[] {
  const { programs, server, services } = servers[type];
  const hasClient = programs.map((program) => `has ${program}`).join(" || ");
  const note = `${hasClient} || note 'the image has no ${server}: its databases are not created'`;
  return [note, ...services.map((service) => `switch_service on ${service}`)];
}

const makeDatabases = String.raw`#!/bin/sh
# Creates the appliance's databases, once, when their servers answer.
here=/usr/lib/kiln/databases

start() {
  for service in "$@"; do
    if [ -d /run/systemd/system ]; then
      systemctl start "$service" 2> /dev/null && return
    elif [ -x "/etc/init.d/$service" ]; then
      "/etc/init.d/$service" start && return
    fi
  done
}

# until_answered COMMAND...: retries it for a minute
until_answered() {
  tries=0
  until "$@" > /dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -le 60 ] || return 1
    sleep 1
  done
}

postgres() { (cd / && su postgres -c "psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 $1"); }

make_postgres() {
  [ -e "$here/pgsql.sql" ] && [ -n "$(command -v psql)" ] || return 0
  start postgresql
  until_answered postgres '--command "SELECT 1"' && postgres --file=- < "$here/pgsql.sql"
}

# Newer MariaDB packages install the client only as mariadb.
make_mysql() {
  client=$(command -v mariadb || command -v mysql)
  [ -e "$here/mysql.sql" ] && [ -n "$client" ] || return 0
  start mariadb mysql mysqld
  until_answered "$client" --user=root --execute='SELECT 1' && "$client" --user=root < "$here/mysql.sql"
}

made=0
make_postgres || made=1
make_mysql || made=1
exit $made
`;
