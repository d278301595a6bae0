import type { Services } from "#domain/services";
import { examine } from "#domain/appliances/status";
import { sinceBuild } from "#domain/difference/since-build";
import { configurationOf } from "#lib/configuration/stored";
import type { PackageUpdate } from "#model/image-updates";
import { listAbilities } from "#storage/agents";
import type { Appliance } from "#storage/appliances";
import type { Build } from "#storage/builds";
import { findUpdates } from "#storage/image-updates";

/**
 * The updates that an automatic build would bring, or the reason why none is started. Undefined if no update is wanted.
 */
export type Decision = { brings: PackageUpdate[] } | { why: string } | undefined;

/**
 * Decides whether to build the images of the newest version again. If the appliance was changed since, the decision is
 * left to its owner, whose changes may be unfinished.
 */
export async function decide(services: Services, appliance: Appliance, newest: readonly Build[]): Promise<Decision> {
  const wanted = await wantedUpdates(services, appliance, newest);
  if (wanted.size === 0) return undefined;
  const abilities = await listAbilities(services.db);
  const brings = new Map<string, PackageUpdate>();
  for (const build of newest) {
    const examined = await examine(services, appliance, { imageType: build.imageType, abilities });
    const since = await sinceBuild(services, appliance, { build, examined });
    if (!since) return { why: examined.issues.find(({ type }) => type === "error")?.text ?? inputIsGone(build) };
    if (!since.isSameDefinition) return { why: wasChanged(build) };
    for (const { name } of since.packages) {
      const update = wanted.get(name);
      if (update) brings.set(name, update);
    }
  }
  return brings.size > 0 ? { brings: [...brings.values()] } : { why: bringsNothing };
}

/** The updates that the appliance follows and that one of the images lacks, by name. */
async function wantedUpdates(
  { env }: Services,
  appliance: Appliance,
  newest: readonly Build[],
): Promise<Map<string, PackageUpdate>> {
  const lists = await Promise.all(newest.map(({ uid }) => findUpdates(env.BLOBS, uid)));
  const wanted = followed(
    appliance,
    lists.flatMap((found) => found?.updates ?? []),
  );
  return new Map(wanted.map((one) => [one.name, one]));
}

/** The updates for which the appliance is built again. */
export function followed(
  appliance: Pick<Appliance, "configuration">,
  updates: readonly PackageUpdate[],
): PackageUpdate[] {
  const { automaticBuilds: follows } = configurationOf(appliance).settings;
  return follows === "never" ? [] : updates.filter(({ isSecurity }) => isSecurity || follows === "all");
}

const inputIsGone = ({ version }: Build) => `The input of version ${version} is no longer stored.`;

const wasChanged = ({ version }: Build) =>
  `The appliance was changed after version ${version} was built. To resume automatic builds, build it once yourself.`;

const bringsNothing =
  "A new image would have the same versions: you have pinned a version, or another package needs the old one.";

/** How many packages a message names. */
const maxNamed = 20;

/** The packages as part of a sentence: "apache2, openssl and 3 others". */
export function packagesIn(brings: readonly PackageUpdate[]): string {
  const first = brings.toSorted((one, other) => Number(other.isSecurity) - Number(one.isSecurity)).slice(0, maxNamed);
  const names = first.map(({ name, available }) => `${name} ${available}`).join(", ");
  const others = brings.length - first.length;
  return others === 0 ? names : `${names} and ${others} others`;
}
