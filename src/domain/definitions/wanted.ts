import { parseArch } from "#domain/appliances/appliance";
import { check, wrongValues } from "#domain/configuration/check";
import { withChange, type Configured } from "#domain/configuration/change";
import { refuseSettingsOfBase } from "#domain/configuration/settings-of-base";
import { decrypted, encrypted } from "#domain/configuration/secrets";
import { faultsOf } from "#domain/configuration/validation";
import { readPublicKey, maxKeys } from "#domain/contents/gpg-key";
import { parseMetadata } from "#domain/contents/overlay-file-metadata";
import { kinds, type Contents, type WantedDefinition } from "#domain/definitions/definition";
import { pinnedTo, repositoryFinder } from "#domain/definitions/repositories";
import { findContent } from "#domain/definitions/staged-content";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { refuseOtherType } from "#domain/repositories/of-appliance";
import type { EncryptionKey } from "#domain/secrets";
import { checkName, checkVersion, keyOf } from "#domain/software/selection-rules";
import { rest } from "#lib/loop/pace";
import { Configuration } from "#lib/configuration/stored";
import type { Account } from "#storage/accounts";
import type { Appliance } from "#storage/appliances";
import type { FileContent } from "#storage/overlay-files";
import { listVisibleRepositories, type Repository } from "#storage/repositories";

/** The account that sends a definition, the appliance that it is for, and the URL of the service. */
export interface Reading {
  account: Account;
  appliance: Pick<Appliance, "baseSystem" | "arch">;
  baseUrl: string;
  /** How to treat a file whose content the service lacks. A plan does not need the content. */
  missingContent: "refuse" | "assume";
}

/**
 * The contents that a definition asks for. Everything that it omits stays unchanged. Refuses the same as the individual
 * calls do.
 */
export async function wantedContents(
  services: Services<EncryptionKey>,
  reading: Reading,
  { before, wanted }: { before: Contents; wanted: WantedDefinition },
): Promise<Contents> {
  refuseOtherBase(reading.appliance, wanted);
  const repositories = wanted.repositories
    ? await repositoriesOf(services, reading, wanted.repositories)
    : before.repositories;
  const configured = await configuredOf(services.env, before, wanted);
  const [from, to] = [before.configuration.settings, configured.configuration.settings];
  await refuseSettingsOfBase(services.db, reading.appliance, { from, to });
  return {
    ...configured,
    repositories,
    selection: selectionOf(before, wanted, (name) => pinnedTo(name, repositories, reading.baseUrl)),
    files: wanted.files ? await filesOf(services.env, reading, { before, files: wanted.files }) : before.files,
    keys: wanted.gpgKeys ? await keysOf(wanted.gpgKeys) : before.keys,
  };
}

/** Refuses a different base system or architecture, because these never change. */
function refuseOtherBase({ baseSystem, arch }: Reading["appliance"], wanted: WantedDefinition): void {
  check((wanted.baseSystem ?? baseSystem) === baseSystem, "base_system", fixed(baseSystem));
  check((parseArch(wanted.arch) ?? arch) === arch, "arch", fixed(arch));
}

const fixed = (is: string) => `the appliance has ${is}, which cannot be changed: make a new appliance`;

async function configuredOf(env: EncryptionKey, before: Contents, wanted: WantedDefinition) {
  const { name, version, imageType } = { ...before.identity, ...wanted };
  const configured = { ...before.identity, configuration: await decrypted(env, before.configuration) };
  refuseNewWithoutPassword(before.configuration, wanted);
  const after = withChange(configured, { ...wanted.configuration, name, version, imageType });
  refuseInvalid(after);
  refuseUnused(after.configuration, wanted);
  const configuration = Configuration.parse(await encrypted(env, after.configuration, before.configuration));
  return { identity: { name: after.name, version: after.version, imageType: after.imageType }, configuration };
}

/** Refuses invalid values. The path of a setting begins with the part of the definition that contains it. */
function refuseInvalid(after: Configured): void {
  const faults = faultsOf(after).map(({ path, why }) => ({
    path: ofDefinition.has(path) ? path : `configuration/${path}`,
    why,
  }));
  if (faults.length > 0) throw wrongValues(faults);
}

const ofDefinition = new Set(["name", "version", "configuration"]);

/**
 * Refuses settings that the configuration would store but neither use nor show. It would be wrong to report them as
 * applied.
 */
function refuseUnused({ network, lvm }: Configuration, { configuration: change }: WantedDefinition): void {
  const { ip, netmask, route, nameservers } = change?.network ?? {};
  for (const [name, value] of Object.entries({ ip, netmask, route, nameservers })) {
    const isUsed = network.type === "manual" || value === undefined || value.length === 0;
    check(
      isUsed,
      `configuration/network/${name}`,
      `is used only with the type manual, but the type is ${network.type}`,
    );
  }
  const isUsed = lvm.enabled || (change?.lvm?.volumes ?? []).length === 0;
  check(isUsed, "configuration/lvm/volumes", "are used only if lvm is enabled");
}

/**
 * Definitions contain no passwords, so applying another appliance's definition must not create users without passwords.
 */
function refuseNewWithoutPassword({ users }: Configuration, { configuration: change }: WantedDefinition): void {
  const known = new Set(users.map(({ name }) => name));
  const open = change?.users?.find(({ name, password }) => password === undefined && !known.has(name));
  check(open === undefined, `configuration/users/user (${open?.name})`, "a new user needs a password");
}

async function repositoriesOf(
  { db }: Services<unknown>,
  { account, appliance, baseUrl }: Reading,
  wanted: NonNullable<WantedDefinition["repositories"]>,
): Promise<Repository[]> {
  const visible = await listVisibleRepositories(db, account.id);
  const meantBy = repositoryFinder(visible, { baseUrl, baseSystem: appliance.baseSystem });
  const found = new Map<number, Repository>();
  for (const one of wanted) {
    const repository = meantBy(one);
    found.set(repository.id, repository);
    await rest();
  }
  await refuseOtherType(db, appliance, [...found.values()]);
  return [...found.values()];
}

/** The wanted packages, patterns and bans as one list. */
function selectionOf(
  before: Contents,
  wanted: WantedDefinition,
  pins: (name: string) => Repository[],
): Contents["selection"] {
  const lists = { package: wanted.packages, pattern: wanted.patterns, ban: wanted.bans };
  const rows = kinds.flatMap((kind) => {
    const list = lists[kind];
    if (!list) return before.selection.filter((one) => one.kind === kind);
    return list.map((one) => ({ kind, ...chosenOf(one, pins) }));
  });
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()];
}

function chosenOf(
  { name, version, repository }: NonNullable<WantedDefinition["packages"]>[number],
  pins: (name: string) => Repository[],
) {
  checkName(name);
  checkVersion(version ?? undefined, "invalid_version");
  if (repository === undefined) return { name, version: version ?? null, repositoryId: null };
  const [pinned, second] = pins(repository);
  if (pinned && !second) return { name, version: version ?? null, repositoryId: pinned.id };
  const why = pinned
    ? "and the appliance has several of that name: give the url of one"
    : "which the appliance does not have";
  throw new Refusal("invalid_repository_id", { message: `${name} is pinned to the repository ${repository}, ${why}.` });
}

async function filesOf(
  env: EncryptionKey,
  { account, missingContent }: Reading,
  { before, files }: { before: Contents; files: NonNullable<WantedDefinition["files"]> },
): Promise<Contents["files"]> {
  const known = new Map<string, FileContent>(before.files.map((file) => [file.sha256, file]));
  const rows: Contents["files"] = [];
  for (const { path, owner, group, permissions, enabled, size: announced = 0, sha256, upload } of files) {
    await rest();
    const at = path.lastIndexOf("/");
    const split = { filename: path.slice(at + 1), path: path.slice(0, at + 1) || "/" };
    const metadata = parseMetadata({ ...split, ...given({ owner, group, permissions, enabled }) }, undefined);
    const content =
      known.get(sha256) ?? (upload === undefined ? undefined : await findContent(env, account.id, upload));
    const isRight = content?.sha256 === sha256 || (content === undefined && missingContent === "assume");
    check(isRight, `files/file (${path})`, "the service does not have this content: send it with POST contents first");
    const { blobId, size, md5 } = content ?? { blobId: "", size: announced, md5: "" };
    rows.push({ ...metadata, blobId, size, md5, sha256 });
  }
  return rows;
}

const given = ({
  enabled,
  ...texts
}: { [N in "owner" | "group" | "permissions"]: string | undefined } & { enabled: boolean | undefined }) => ({
  ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined)),
  ...(enabled !== undefined && { enabled: String(enabled) }),
});

async function keysOf(wanted: NonNullable<WantedDefinition["gpgKeys"]>): Promise<Contents["keys"]> {
  check(wanted.length <= maxKeys, "gpg_keys", `an appliance has at most ${maxKeys}`);
  const keys: Contents["keys"] = [];
  for (const { name, target = "rpm", key } of wanted) {
    keys.push({ name, target, ...(await readPublicKey(new TextEncoder().encode(key))) });
    await rest();
  }
  check(new Set(keys.map(({ fingerprint }) => fingerprint)).size === keys.length, "gpg_keys", "a key appears twice");
  return keys;
}
