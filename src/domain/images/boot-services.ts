import type { Build } from "#storage/builds";
import { findInstalled } from "#storage/build-blobs";

/** A package, and the systemd units that it starts when its image boots. */
export interface StartedByPackage {
  name: string;
  units: readonly string[];
}

/** Sorted by name. Empty if the agent has found none, for example in an image without systemd. */
export async function bootServicesOf(
  env: Pick<Env, "BLOBS">,
  { uid }: Pick<Build, "uid">,
): Promise<StartedByPackage[]> {
  const installed = (await findInstalled(env.BLOBS, uid)) ?? [];
  return installed
    .flatMap(({ name, services = [] }) => (services.length === 0 ? [] : [{ name, units: services }]))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
