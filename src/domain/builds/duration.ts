import type { ImageType } from "#contract/index";
import type { EarlierSteps, TimedBuild } from "#storage/estimates";

/** This many earlier builds are enough for an estimate. */
const enough = 3;

/**
 * Seconds per phase of the builds that tell most of one in this type: the appliance's own in the type, its own in
 * others, those of other appliances in the type. Nothing: the agent goes by the size of the image.
 */
export function mostAlike({ own, ofType }: EarlierSteps, imageType: ImageType): Record<string, number>[] {
  const same = own.filter((build) => build.imageType === imageType);
  const [chosen = []] = [same, own, ofType].filter((builds) => builds.length > 0);
  return chosen.slice(0, enough).map(secondsByPhase);
}

const secondsByPhase = ({ steps }: TimedBuild): Record<string, number> =>
  Object.fromEntries(steps.map(({ phase, seconds }) => [phase, seconds]));

/** The mean of what earlier builds took as a whole; undefined: there are none. */
export function expectedSecondsOf(earlier: readonly Record<string, number>[]): number | undefined {
  if (earlier.length === 0) return undefined;
  const all = earlier.flatMap((phases) => Object.values(phases));
  return all.reduce((sum, seconds) => sum + seconds, 0) / earlier.length;
}
