/** An image's first boot with databases, on real servers: MariaDB and PostgreSQL from this host's distribution. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { databaseVerifiers } from "#domain/accounts/password-hashes";
import type { DatabaseFacts } from "#lib/kiwi/facts";
import { currentPackage, unpackPackages } from "./debian-packages.ts";
import { imagesIn } from "./image-root.ts";

const dir = mkdtempSync(join(tmpdir(), "kiln-image-with-databases-"));
const packages = join(dir, "packages");
const inImage = imagesIn(dir, packages);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const mariadb = ["mariadb-server-core", "mariadb-client-core", "mariadb-common", "mysql-common", "libmariadb3"];
const libraries = ["libpq5", "libaio1", "libnuma1", "liburing2", "libedit2", "libncurses6", "libxslt1.1"];
beforeAll(() => {
  const postgres = ["postgresql", "postgresql-client"].map(currentPackage);
  unpackPackages([...mariadb, ...postgres, ...libraries], packages);
}, 600_000);

const people = [
  { username: "tickets", password: "s3same", databases: ["prod", "my_db"] },
  { username: "clerk", password: `it's "a" $(pass)`, databases: ["prod"] },
  { username: "guest", password: "guest", databases: [] },
];

const factsOf = (type: DatabaseFacts["type"]): DatabaseFacts => ({
  type,
  users: people.map(({ password, ...user }) => ({
    ...user,
    verifier: databaseVerifiers[type](password, Buffer.from("0123456789abcdef")),
  })),
});

/** Does what the packages' own scripts do during installation, and starts their services without systemd. */
const installed = String.raw`
  mount -t tmpfs none /usr/lib/systemd
  printf 'mysql:x:100:100::/var/lib/mysql:/bin/false\npostgres:x:101:101::/var/lib/pgsql:/bin/sh\n' >> /etc/passwd
  printf 'mysql:x:100:\npostgres:x:101:\n' >> /etc/group
  printf '127.0.0.1 localhost\n' > /etc/hosts
  mkdir -p /etc/init.d /etc/pam.d
  printf '%s\n' 'auth sufficient pam_rootok.so' 'account required pam_permit.so' 'session required pam_permit.so' > /etc/pam.d/su
  install -d -o mysql -g mysql /var/lib/mysql /run/mysqld
  install -d -o postgres -g postgres /var/lib/pgsql /run/postgresql
  bin=$(echo /usr/lib/postgresql/*/bin | cut -d' ' -f1)
  ln -sf $bin/psql /usr/bin/psql
  cat > /etc/init.d/postgresql << END
#!/bin/sh
cd /
[ -e /var/lib/pgsql/data ] ||
  su postgres -c "$bin/initdb -D /var/lib/pgsql/data --auth-local=peer --auth-host=scram-sha-256 --no-locale --no-sync"
su postgres -c "$bin/pg_ctl -D /var/lib/pgsql/data -l /var/lib/pgsql/log -w start"
END
  cat > /etc/init.d/mariadb << 'END'
#!/bin/sh
[ -e /var/lib/mysql/mysql ] || mariadb-install-db --user=mysql
setsid mariadbd --user=mysql > /var/log/mariadb 2>&1 &
END
  chmod 755 /etc/init.d/*
  export LC_ALL=C
`;

/** One boot, and a second one that retries failed steps. */
const boots = `
  boot() { rm -f /var/lib/kiln/*.done; /usr/lib/kiln/boot after-services > /var/log/boot 2>&1; ls /var/lib/kiln/*.done || cat /var/log/boot; }
  boot < /dev/null
`;

interface Attempt {
  who: string;
  password?: string;
  database: string;
  sql: string;
  /** Uses the server's socket if given, otherwise TCP. */
  isLocal?: boolean;
}

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const passwordOf = ({ who, password }: Attempt) =>
  quoted(password ?? people.find(({ username }) => username === who)?.password ?? "");

const clients: Record<DatabaseFacts["type"], (attempt: Attempt) => string> = {
  mysql: (one) =>
    `MYSQL_PWD=${passwordOf(one)} mariadb --user=${one.who} ${one.isLocal ? "" : "--host=127.0.0.1"} --execute=${quoted(one.sql)} ${one.database}`,
  pgsql: (one) =>
    `PGPASSWORD=${passwordOf(one)} psql --quiet --no-psqlrc --host=127.0.0.1 --username=${one.who} --command=${quoted(one.sql)} ${one.database}`,
};

const allowed: Attempt[] = [
  { who: "tickets", database: "prod", sql: "CREATE TABLE sold (seat int); INSERT INTO sold VALUES (7)" },
  { who: "tickets", database: "prod", sql: "SELECT seat FROM sold", isLocal: true },
  { who: "tickets", database: "my_db", sql: "CREATE TABLE own (a int)" },
  { who: "clerk", database: "prod", sql: "INSERT INTO sold SELECT seat + 1 FROM sold" },
  { who: "clerk", database: "prod", sql: "CREATE TABLE reserved (seat int)" },
  { who: "tickets", database: "prod", sql: "SELECT seat FROM reserved" },
];
const refused: Attempt[] = [
  { who: "tickets", password: "S3same", database: "prod", sql: "SELECT 1" },
  { who: "tickets", password: "", database: "prod", sql: "SELECT 1" },
  { who: "tickets", database: "prod", sql: "CREATE DATABASE myxdb" },
  { who: "clerk", database: "my_db", sql: "SELECT 1" },
  { who: "guest", database: "prod", sql: "SELECT 1" },
  { who: "root", password: "", database: "prod", sql: "SELECT 1" },
];

const tried = (type: DatabaseFacts["type"], attempts: Attempt[]) =>
  attempts
    .map((one) => `{ ${clients[type](one)} > /dev/null 2>> /var/log/refusals && echo yes || echo no; }`)
    .join("\n");
const answers = (attempts: Attempt[], answer: "yes" | "no") => attempts.map(() => `${answer}\n`).join("");

describe.each(["mysql", "pgsql"] as const)("databases of %s", (type) => {
  it("are made once, at the first boot, for their users only", () => {
    const ask = `${boots}${tried(type, allowed)}\n${tried(type, refused)}\nboot < /dev/null\n${tried(type, allowed.slice(1, 2))}`;
    const output = inImage({ databases: [factsOf(type)] }, ask, installed);
    expect(output).toBe(
      `/var/lib/kiln/make-databases.done\n${answers(allowed, "yes")}${answers(refused, "no")}/var/lib/kiln/make-databases.done\nyes\n`,
    );
  });
});

describe("an image whose client is called mysql", () => {
  it("also has its databases", () => {
    const before = `${installed}\nrm /usr/bin/mysql; mv /usr/bin/mariadb /usr/bin/mysql`;
    const ask = `${boots}\nmysql --execute="SHOW DATABASES LIKE 'prod'" --skip-column-names`;
    expect(inImage({ databases: [factsOf("mysql")] }, ask, before)).toBe("/var/lib/kiln/make-databases.done\nprod\n");
  });
});
