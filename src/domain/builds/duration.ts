import type { ImageType } from "#lib/contract/index";
import type { EarlierSteps, TimedBuild } from "#storage/estimates";

/** How many earlier builds are enough for an estimate. */
const enough = 3;

/**
 * Seconds per phase of the most similar builds: the appliance's own builds of this type, or else its builds of other
 * types, or else other appliances' builds of this type. If there are none, the agent estimates from the size of the
 * image.
 */
export function mostSimilar({ own, ofType }: EarlierSteps, imageType: ImageType): Record<string, number>[] {
  const same = own.filter((build) => build.imageType === imageType);
  const [chosen = []] = [same, own, ofType].filter((builds) => builds.length > 0);
  return chosen.slice(0, enough).map(secondsByPhase);
}

const secondsByPhase = ({ steps }: TimedBuild): Record<string, number> =>
  Object.fromEntries(steps.map(({ phase, seconds }) => [phase, seconds]));

/** The mean duration of earlier builds. Undefined if there are none. */
export function expectedSecondsOf(earlier: readonly Record<string, number>[]): number | undefined {
  if (earlier.length === 0) return undefined;
  const all = earlier.flatMap((phases) => Object.values(phases));
  return all.reduce((sum, seconds) => sum + seconds, 0) / earlier.length;
}
