import type { Watch } from "#storage/watches";

/** What came of the last rebuild of an appliance. `refused`: nothing was built, and the message says why. */
export interface LastRebuild {
  state: NonNullable<Watch["rebuildState"]>;
  from: string | null;
  version: string | null;
  message: string;
  at: Date;
}

export function lastRebuildOf(watch: Watch): LastRebuild | undefined {
  const { rebuildState: state, rebuildAt: at, rebuildFrom: from, rebuildVersion: version } = watch;
  if (state === null || at === null) return undefined;
  return { state, from, version, message: watch.rebuildMessage, at };
}
