import type { Check } from "#domain/configuration/check";
import { isLine, isPassword, isPath, isSqlName, isUserName, reservedSqlNames } from "#domain/configuration/rules";
import { whyNoSshKey } from "#domain/configuration/ssh-key";
import type { Configuration } from "#lib/configuration/stored";

const highestUid = 60_000;
const maxKeys = 50;
const password = "must be one line of 1 to 128 bytes";

/** Checks the users of an image, and the commands that are started as these users. */
export function validateUsers(check: Check, { users, autostarts, settings }: Configuration): void {
  check(users.length <= 100, "users", "must not be more than 100");
  for (const user of users) validateUser(check, user);
  const names = users.map(({ name }) => name);
  check(new Set(names).size === names.length, "users/user/name", "must not be the same for two users");
  check(
    new Set(users.map(({ uid }) => uid)).size === users.length,
    "users/user/uid",
    "must not be the same for two users",
  );
  check(names.includes("root"), "users", "root must be one of them");
  const login = settings.automaticLogin;
  check(login === "" || names.includes(login), "settings/automatic_login", "must be the name of one of the users");
  check(autostarts.length <= 100, "autostarts", "must not be more than 100");
  for (const autostart of autostarts) validateAutostart(check, autostart, names);
}

function validateUser(check: Check, user: Configuration["users"][number]): void {
  const { name, uid, group } = user;
  const wanted = "must be 1 to 32 of a-z, 0-9, _ and -, and begin with a letter or _";
  check(isUserName(name), "users/user/name", wanted);
  check(uid >= 0 && uid <= highestUid, "users/user/uid", `must be 0 to ${highestUid}`);
  check((uid === 0) === (name === "root"), "users/user/uid", "must be 0 for root, and only for root");
  check(
    !user.administrator || name !== "root",
    "users/user/administrator",
    "must not be set for root, who can already do everything",
  );
  checkSshKeys(check, user.sshKeys, { path: "users/user/ssh_keys", most: maxKeys });
  const hasPassword = user.password !== "" || user.sshKeys.length === 0;
  check(
    !hasPassword || isPassword(user.password),
    "users/user/password",
    `${password}, because ${name} has no SSH key`,
  );
  check(isUserName(group), "users/user/group", wanted);
  check(isPath(user.shell), "users/user/shell", "must be an absolute path");
  // The default contains the name, whose fault has already been reported.
  const isHome = user.homedir === `/home/${name}` || isPath(user.homedir);
  check(isHome, "users/user/homedir", "must be an absolute path");
}

/** Checks public keys. Each one is a line of `authorized_keys`. */
export function checkSshKeys(
  check: Check,
  keys: readonly string[],
  { path, most }: { path: string; most: number },
): void {
  check(keys.length <= most, path, `must not be more than ${most}`);
  for (const [at, key] of keys.entries()) {
    const why = whyNoSshKey(key);
    const which = keys.length > 1 ? `key ${at + 1}: ` : "";
    check(why === undefined, path, which + why);
  }
}

function validateAutostart(check: Check, autostart: Configuration["autostarts"][number], names: string[]): void {
  const { command, description, user } = autostart;
  const isCommand = command !== "" && isLine(command, 1024);
  check(isCommand, "autostarts/autostart/command", "must be one line of 1 to 1024 characters");
  check(isLine(description, 255), "autostarts/autostart/description", "must be one line of at most 255 characters");
  check(names.includes(user), "autostarts/autostart/user", "must be the name of one of the users");
}

export function validateDatabases(check: Check, databases: Configuration["databases"]): void {
  const types = databases.map(({ type }) => type);
  check(new Set(types).size === types.length, "databases/database/type", "must not be the same for two databases");
  for (const { type, users } of databases) {
    const names = users.map(({ username }) => username);
    const path = "databases/database/users";
    check(names.length <= 50, path, "must not be more than 50");
    check(new Set(names).size === names.length, `${path}/user/username`, "must not be the same for two users");
    for (const user of users) validateDatabaseUser(check, { ...user, type }, `${path}/user`);
  }
}

type Database = Configuration["databases"][number];
type DatabaseUser = Database["users"][number] & Pick<Database, "type">;

function validateDatabaseUser(check: Check, user: DatabaseUser, path: string): void {
  const { username, databases, type } = user;
  const reserved = reservedSqlNames[type];
  const wanted = "must be 1 to 32 of a-z, A-Z, 0-9 and _, and not begin with a number";
  check(isSqlName(username), `${path}/username`, wanted);
  check(!reserved.user.test(username), `${path}/username`, `must not be ${username}, which the server reserves`);
  check(isPassword(user.password), `${path}/password`, `${password} for ${username}`);
  check(databases.length <= 50, `${path}/database_list`, "must not be more than 50");
  check(databases.every(isSqlName), `${path}/database_list`, `each name ${wanted}`);
  const taken = databases.find((name) => reserved.database.test(name));
  check(taken === undefined, `${path}/database_list`, `must not name ${taken}, which the server reserves`);
}
