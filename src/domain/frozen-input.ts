import { encrypt as hashForShadow } from "unixcrypt";
import type { FrozenInput, FrozenRepository, ImageType } from "#contract/index";
import { Refusal } from "#domain/refusal";
import { kiwiDescription } from "#kiwi/description";
import {
  findBaseSystem,
  listApplianceRepositories,
  listSelection,
  type Appliance,
  type Repository,
  type Selection,
} from "#storage/appliances";
import type { Database } from "#storage/db";

/** Kiln's own version, as frozen inputs and the operator's health page tell it. */
export const kilnVersion = "0.1.0";

/** Collects all that decides what a build contains, so that later changes of the appliance cannot touch it. */
export async function freezeInput(
  db: Database,
  appliance: Appliance,
  request: { version: string; imageType: ImageType },
): Promise<FrozenInput> {
  const [baseSystem, rows, selection] = await Promise.all([
    findBaseSystem(db, appliance.baseSystem),
    listApplianceRepositories(db, appliance.id),
    listSelection(db, appliance.id),
  ]);
  if (!baseSystem) throw new Refusal("configuration_error", { message: "The base system of the appliance is gone." });
  const chosen = frozenSelection(selection, new Map(rows.map(({ id }) => [id, aliasOf(id)])));
  const needed = (baseSystem.facts.needs[request.imageType] ?? []).map((name) => ({ name }));
  const description = kiwiDescription({
    ...request,
    name: fileNameOf(appliance.name),
    diskSizeMb: appliance.configuration.settings.diskSizeMb,
    locale: appliance.configuration.locale,
    users: appliance.configuration.users.map(withPasswordHash),
    repositories: rows.map(frozenRepository),
    packages: [...chosen.packages, ...needed].map(packageRequest),
    patterns: chosen.patterns,
    bootstrap: baseSystem.facts.bootstrap,
  });
  return {
    formatVersion: 1,
    appliance: { id: appliance.id, name: appliance.name, version: request.version, arch: appliance.arch },
    imageType: request.imageType,
    imageName: imageName(appliance, request),
    repositories: rows.map(frozenRepository),
    selection: chosen,
    description: { "config.xml": description },
    writtenBy: `kiln ${kilnVersion}`,
  };
}

/** `Ticket_counter_kiosk.x86_64-0.0.1.oem`: what the file to download is called, without its extension. */
const imageName = (appliance: Appliance, { version, imageType }: { version: string; imageType: ImageType }) =>
  `${fileNameOf(appliance.name)}.${appliance.arch}-${version}.${imageType}`;

function fileNameOf(name: string): string {
  const plain = name.normalize("NFKD").replace(/[^A-Za-z0-9]+/g, "_");
  return plain.replace(/^_+|_+$/g, "").slice(0, 100) || "appliance";
}

const aliasOf = (repositoryId: number) => `repo-${repositoryId}`;

const frozenRepository = ({ id, url, priority }: Repository): FrozenRepository => ({
  alias: aliasOf(id),
  url,
  priority,
});

function frozenSelection(rows: Selection[], aliases: Map<number, string>): FrozenInput["selection"] {
  const packages = rows
    .filter(({ kind }) => kind === "package")
    .map(({ name, version, repositoryId }) => ({
      name,
      ...(version === null ? {} : { version }),
      // A pin to a repository that has left the appliance no longer binds.
      ...(repositoryId !== null && aliases.has(repositoryId) ? { repository: aliasOf(repositoryId) } : {}),
    }));
  return { packages, patterns: rows.filter(({ kind }) => kind === "pattern").map(({ name }) => name) };
}

/** zypper's ways to pin: `alias:name=version`. */
const packageRequest = ({ name, version, repository }: FrozenInput["selection"]["packages"][number]): string =>
  `${repository === undefined ? "" : `${repository}:`}${name}${version === undefined ? "" : `=${version}`}`;

// KIWI would hash plain passwords itself, with MD5 and a fixed salt.
const withPasswordHash = <T extends { password: string }>({ password, ...user }: T) => ({
  ...user,
  passwordHash: hashForShadow(password),
});
