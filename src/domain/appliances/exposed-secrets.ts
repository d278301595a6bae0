import { noPassword } from "#lib/kiwi/access";
import { readsUploads } from "#lib/kiwi/machine-repository";
import { isSecretPath, type FrozenInput } from "#lib/contract/index";
import { overlayPath } from "#domain/contents/overlay-file-metadata";
import type { Configuration } from "#lib/configuration/stored";
import type { exposedKinds } from "#model/exposed-secrets";
import type { OverlayFile } from "#storage/overlay-files";

/** A secret of the owner that others receive with the appliance or its images. */
export interface ExposedSecret {
  kind: (typeof exposedKinds)[number];
  /** The user's name, the file's path, or the name of the script or of the repository. */
  name: string;
}

/**
 * Whether a clone of another account's appliance contains the secret, too. Passwords and repositories stay with their
 * owner.
 */
export const isCloned = ({ kind }: ExposedSecret): boolean => kind === "overlay_file" || kind === "script";

/** Passwords that are not secret, by user name. */
export type KnownPasswords = ReadonlyMap<string, string>;

/** The secrets in an appliance's current state. Its configuration shows passwords in clear text. */
export function exposedNow(
  { users, databases, scripts, settings }: Configuration,
  files: readonly OverlayFile[],
  known: KnownPasswords,
): ExposedSecret[] {
  return [
    ...users
      .filter(({ name, password }) => password !== "" && known.get(name) !== password)
      .map(({ name }) => userPassword(name)),
    ...databases.flatMap((one) => one.users.map(({ username }) => databasePassword(one.type, username))),
    ...files.filter(({ enabled }) => enabled).flatMap((file) => overlayFile(overlayPath(file))),
    ...scriptNames.flatMap((name) => (scripts[name].enabled ? script(name, scripts[name].script) : [])),
    ...userRepository(settings.updateUploads),
  ];
}

const scriptNames = ["build", "boot", "autoyast"] as const satisfies readonly (keyof Configuration["scripts"])[];

/** The secrets in an image, found in the input of its build. */
export function exposedBy(input: FrozenInput, isKnown: (user: string, hash: string) => boolean): ExposedSecret[] {
  const { description, files = [], configuration } = input;
  const databases = Object.entries(databaseUsers).flatMap(([type, user]) =>
    [...(description[`root/usr/lib/kiln/databases/${type}.sql`] ?? "").matchAll(user)].map(([, name = ""]) =>
      databasePassword(type, name),
    ),
  );
  return [
    ...usersIn(input)
      .filter(({ name, hash }) => hash !== noPassword && !isKnown(name, hash))
      .map(({ name }) => userPassword(name)),
    ...databases,
    ...files.flatMap(({ path }) => overlayFile(path)),
    ...script("build", configuration?.buildScript ?? ""),
    ...script("boot", description["root/usr/lib/kiln/boot-script"] ?? ""),
    ...script("autoyast", description["root/autoinst.xml"] ?? ""),
    ...userRepository(readsUploads(description)),
  ];
}

/** The users of an image, with the hashes of their passwords. */
export const usersIn = ({ description }: FrozenInput): { name: string; hash: string }[] =>
  [...(description["config.xml"] ?? "").matchAll(/<user name="([^"]+)" password="([^"]*)"/g)].map(
    ([, name = "", hash = ""]) => ({ name, hash }),
  );

/** The database users that `src/lib/kiwi/databases.ts` writes. */
const databaseUsers = {
  pgsql: /^ALTER ROLE "(\w+)" LOGIN PASSWORD/gm,
  mysql: /^CREATE USER IF NOT EXISTS '(\w+)'@/gm,
} as const satisfies Record<Configuration["databases"][number]["type"], RegExp>;

const userPassword = (name: string): ExposedSecret => ({ kind: "user_password", name });
const databasePassword = (type: string, name: string): ExposedSecret => ({
  kind: "database_password",
  name: `${type} ${name}`,
});
const overlayFile = (path: string): ExposedSecret[] =>
  isSuspicious(path) ? [{ kind: "overlay_file", name: path }] : [];
const script = (name: string, text: string): ExposedSecret[] =>
  mentionsSecret.test(text) ? [{ kind: "script", name }] : [];
const userRepository = (isRead: boolean): ExposedSecret[] =>
  isRead ? [{ kind: "user_repository", name: "uploads" }] : [];

const isSuspicious = (path: string): boolean => isSecretPath(path) || nameOfSecret.test(path);
const nameOfSecret =
  /\.(?:key|p12|pfx|jks|keystore|kdbx|ppk)$|\/(?:id_(?:rsa|dsa|ecdsa|ed25519)|\.env)$|(?:password|passphrase|secret|credential|token)[^/]*$/i;
const mentionsSecret = /passw(?:or)?d|passphrase|secret|token|api[_-]?key|BEGIN [A-Z ]*PRIVATE KEY/i;
