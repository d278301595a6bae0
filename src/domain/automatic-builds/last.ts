import type { Watch } from "#storage/watches";

/**
 * The result of an appliance's last automatic build. `refused`: nothing was built, and the message gives the reason.
 */
export interface LastAutomaticBuild {
  state: NonNullable<Watch["automaticState"]>;
  from: string | null;
  version: string | null;
  message: string;
  at: Date;
}

export function lastAutomaticBuildOf(watch: Watch): LastAutomaticBuild | undefined {
  const { automaticState: state, automaticAt: at, automaticFrom: from, automaticVersion: version } = watch;
  if (state === null || at === null) return undefined;
  return { state, from, version, message: watch.automaticMessage, at };
}
