import type { Services } from "#domain/services";
import type { Announcement, NewsOfImage } from "#model/announcement";
import type { PackageUpdate } from "#model/image-updates";
import type { Build } from "#storage/builds";
import { findBuildOfEvent } from "#storage/events";
import { findUpdates, saveDecision, type ImageUpdatesRow } from "#storage/image-updates";

const announcedEveryMs = 24 * 60 * 60_000;
/** How many security updates or advisories an announcement names. */
export const maxNamed = 50;

export interface WatchedImage {
  build: Build;
  row: ImageUpdatesRow;
}

interface News {
  event: NewsOfImage;
  /** The state that was compared. */
  decidedFor: string;
  /** How much there is to announce. */
  count: number;
  /** The names of those news items that cannot wait. */
  urgent: string[];
  about(facts: ImageFacts): Announcement["subject"];
}

/** The facts that each event about an image contains. */
type ImageFacts = ReturnType<typeof factsIn>;

/** Announces that an image is outdated: immediately if there is a new security update, otherwise at most once a day. */
export async function announceOutdated(services: Services, image: WatchedImage, now: number): Promise<void> {
  const event = "image.outdated";
  const { contents, announced } = image.row;
  if (announced[event]?.decidedFor === contents) return;
  const found = await findUpdates(services.env.BLOBS, image.build.uid);
  if (found?.contents !== contents) return;
  const urgent = found.updates.filter(({ isSecurity }) => isSecurity).map(nameOf);
  const counts = { newer: found.updates.length, security: urgent.length, packages: urgent.slice(0, maxNamed) };
  const about = (facts: ImageFacts) => ({ image: { ...facts, ...counts } });
  await announce(services, image, { event, decidedFor: contents, count: counts.newer, urgent, about }, now);
}

const nameOf = ({ name, available }: PackageUpdate): string => `${name} ${available}`;

/**
 * Announces news about an image: immediately if something urgent was not announced before. Otherwise at most once a
 * day, and only if there is more than before. The announcement waits in the outbox until the sweep sends it.
 */
export async function announce(
  { db }: Pick<Services, "db">,
  { build, row }: WatchedImage,
  { event, decidedFor, count, urgent, about }: News,
  now: number,
): Promise<void> {
  const { at: announcedAt = null, count: before = 0, urgent: known = [] } = row.announced[event] ?? {};
  const isUrgent = urgent.some((one) => !known.includes(one));
  const hasMore = isUrgent || count > before;
  const wasToday = announcedAt !== null && now - announcedAt < announcedEveryMs;
  if (hasMore && !isUrgent && wasToday) return;
  const facts = await findBuildOfEvent(db, build.uid);
  if (!facts) return;
  const announcement = {
    key: `image ${build.uid} ${event} ${now}`,
    event,
    at: now,
    account: facts.account,
    subject: about(factsIn(facts)),
    isUrgent,
  };
  await saveDecision(db, row, {
    event,
    decided: hasMore
      ? { decidedFor, at: now, count, urgent }
      : { decidedFor, at: announcedAt, count: before, urgent: known },
    announcement: hasMore ? announcement : undefined,
  });
}

const factsIn = ({
  id,
  applianceId,
  name,
  version,
  imageType,
}: NonNullable<Awaited<ReturnType<typeof findBuildOfEvent>>>) => ({
  build_id: id,
  appliance_id: applianceId,
  name,
  version,
  image_type: imageType,
});
