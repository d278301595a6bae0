import type { ImportedDefinition } from "#lib/kiwi/import/imported";

type Databases = NonNullable<ImportedDefinition["configuration"]["databases"]>;

/** Databases and their users, without passwords, from the statements that Kiln writes (`src/lib/kiwi/databases.ts`). */
export const databasesIn = (textAt: (path: string) => string | undefined): Databases =>
  (["pgsql", "mysql"] as const).flatMap((type) => {
    const statements = textAt(`root/usr/lib/kiln/databases/${type}.sql`);
    return statements === undefined ? [] : [{ type, users: usersIn(statements, patterns[type]) }];
  });

interface Patterns {
  user: RegExp;
  /** Matches a database, and the text that names its users. */
  grant: RegExp;
  granted: RegExp;
}

const patterns: Record<Databases[number]["type"], Patterns> = {
  pgsql: {
    user: /^ALTER ROLE "(\w+)" LOGIN /gm,
    grant: /^GRANT ALL ON DATABASE "(\w+)" TO (.+);$/gm,
    granted: /"(\w+)"/g,
  },
  mysql: {
    user: /^CREATE USER IF NOT EXISTS '(\w+)'@/gm,
    grant: /^GRANT ALL ON `([\w\\]+)`\.\* TO (.+)@'localhost';$/gm,
    granted: /'(\w+)'/g,
  },
};

function usersIn(statements: string, { user, grant, granted }: Patterns): Databases[number]["users"] {
  const grants = [...statements.matchAll(grant)].map(([, name = "", to = ""]) => ({
    name: name.replaceAll("\\", ""),
    users: [...to.matchAll(granted)].map(([, one]) => one),
  }));
  return [...statements.matchAll(user)].map(([, username = ""]) => {
    const theirs = grants.filter(({ users }) => users.includes(username)).map(({ name }) => name);
    return { username, database_list: theirs.join(",") };
  });
}
