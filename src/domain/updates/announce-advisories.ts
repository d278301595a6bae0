import { fixedByUpdates } from "#domain/advisories/fixed-by-updates";
import { listed } from "#domain/advisories/listed-packages";
import { findAdvisories } from "#domain/advisories/of-build";
import type { Services } from "#domain/services";
import { announce, maxNamed, type WatchedImage } from "#domain/updates/announce";
import { findInstalled } from "#storage/build-blobs";
import { findUpdates } from "#storage/image-updates";

/**
 * Announces that updates in the repositories fix advisories about an image: immediately if one of the advisories is
 * known to be exploited and was not announced before. Advisories that, by the owner's statement, do not affect the
 * image are not counted.
 */
export async function announceAdvisories(
  services: Services,
  image: WatchedImage,
  feeds: number,
  now: number,
): Promise<void> {
  const event = "image.affected";
  const { build, row } = image;
  const decidedFor = `${feeds} ${row.contents}`;
  if (feeds === 0 || row.announced[event]?.decidedFor === decidedFor) return;
  const { BLOBS } = services.env;
  const [updates, installed] = await Promise.all([findUpdates(BLOBS, build.uid), findInstalled(BLOBS, build.uid)]);
  if (!installed || updates?.contents !== row.contents) return;
  const found = await findAdvisories(services, build, () => Promise.resolve(installed));
  if (!found?.isKnown) return;
  const relevant = found.advisories.filter(({ statement }) => statement?.status !== "not_affected");
  const fixed = fixedByUpdates(relevant, { installed: installed.map(listed), type: found.packageType, ...updates });
  const urgent = namesOf(fixed.filter(({ isExploited }) => isExploited));
  const names = [...new Set([...urgent, ...namesOf(fixed)])];
  const counts = { fixed: names.length, exploited: urgent.length, advisories: names.slice(0, maxNamed) };
  await announce(
    services,
    image,
    { event, decidedFor, count: names.length, urgent, about: (facts) => ({ image: { ...facts, ...counts } }) },
    now,
  );
}

const namesOf = (advisories: readonly { id: string }[]): string[] => [...new Set(advisories.map(({ id }) => id))];
