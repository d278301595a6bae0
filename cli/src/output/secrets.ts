/** The mask that replaces a password. `kiln config set` refuses it as a value. */
export const mask = "********";

/** The document without its passwords. An empty password is shown, because it is not a secret but worth knowing. */
export function masked<T>(document: T): T {
  // Parsed again, it has the same members.
  return JSON.parse(JSON.stringify(document, (name, value: unknown) => (isSecret(name, value) ? mask : value))) as T;
}

const isSecret = (name: string, value: unknown): boolean =>
  (name === "password" || name === "secret") && typeof value === "string" && value !== "";

/** A manifest without password hashes, as the service shows it to other accounts. */
export const withoutHashes = (manifest: string): string => manifest.replaceAll(/(\spassword=")[^"]*"/g, '$1"');
