import { createHash } from "node:crypto";
import { decrypted } from "#domain/configuration/secrets";
import { passwordsOf } from "#domain/definitions/changes";
import { definitionOf, type Contents } from "#domain/definitions/definition";
import type { Plan } from "#domain/definitions/plan";
import { keyedHash, type EncryptionKey } from "#domain/secrets";
import { definition } from "#lib/definition/document";
import { writeJson } from "#lib/wire/json";
import { viewOf } from "#lib/wire/view";
import type { Appliance } from "#storage/appliances";

export type CanonicalEnv = EncryptionKey & Pick<Env, "API_KEY_PEPPER">;

interface Planned extends Pick<Plan, "before" | "after"> {
  appliance: Pick<Appliance, "baseSystem" | "arch">;
  baseUrl: string;
}

/**
 * The id of a definition: the SHA-256 of its canonical form. Passwords are not part of that form. If the definition
 * sets any, a hash of them with a key of the service is added, so that no one can guess them from the id.
 */
export async function schematicId(env: CanonicalEnv, planned: Planned): Promise<string> {
  const form = canonicalForm(planned);
  const passwords = await newPasswords(env, planned);
  const secret = passwords.length === 0 ? "" : `\n${keyedHash(env.API_KEY_PEPPER, JSON.stringify(passwords))}`;
  return createHash("sha256").update(`${form}${secret}`).digest("hex");
}

/**
 * The whole definition as JSON, including everything that the request omitted. Keys are sorted, and so is every list
 * whose order has no meaning. The image's version is not included.
 */
function canonicalForm({ appliance, after, baseUrl }: Planned): string {
  const shown = definitionOf({ ...appliance, id: 0 }, sorted(after), baseUrl);
  const view = viewOf(definition, shown, { baseUrl, version: { name: "v2" } });
  const { id: _id, version: _version, ...rest } = JSON.parse(writeJson(definition.root, view))[definition.root];
  return JSON.stringify(withSortedKeys(rest));
}

const sorted = (contents: Contents): Contents => ({
  ...contents,
  selection: contents.selection.toSorted(by(({ name }) => name)),
  files: contents.files.toSorted(by(({ path, fileName }) => `${path}/${fileName}`)),
  keys: contents.keys.toSorted(by(({ fingerprint }) => fingerprint)),
});

const by =
  <T>(key: (one: T) => string) =>
  (left: T, right: T): number =>
    key(left) < key(right) ? -1 : 1;

function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(by(([name]) => name));
  return Object.fromEntries(entries.map(([name, one]) => [name, withSortedKeys(one)]));
}

/** The passwords that the template does not have. */
async function newPasswords(env: CanonicalEnv, { before, after }: Planned) {
  const [was, is] = await Promise.all([decrypted(env, before.configuration), decrypted(env, after.configuration)]);
  const known = new Set(passwordsOf(was).map((one) => JSON.stringify(one)));
  return passwordsOf(is).filter((one) => one.password !== "" && !known.has(JSON.stringify(one)));
}
