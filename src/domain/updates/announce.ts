import type { Services } from "#domain/services";
import type { Announcement } from "#model/announcement";
import type { PackageUpdate } from "#model/image-updates";
import type { Build } from "#storage/builds";
import { findBuildOfEvent } from "#storage/events";
import { findUpdates, saveDecision, type ImageUpdatesRow } from "#storage/image-updates";

const announcedEveryMs = 24 * 60 * 60_000;
/** How many security updates an announcement names. */
const maxNamed = 50;

/**
 * Announces that an image is outdated: at once if there is a security update that was not announced before, and
 * otherwise at most once a day. The sweep sends what waits in the outbox.
 */
export async function announceOutdated(
  { env, db }: Services,
  { build, row }: { build: Build; row: ImageUpdatesRow },
  now: number,
): Promise<void> {
  const { contents } = row;
  if (row.decidedFor === contents) return;
  const [found, facts] = await Promise.all([findUpdates(env.BLOBS, build.uid), findBuildOfEvent(db, build.uid)]);
  if (found?.contents !== contents || !facts) return;
  const security = found.updates.filter(({ isSecurity }) => isSecurity).map(nameOf);
  const isUrgent = security.some((one) => !row.announcedSecurity.includes(one));
  const hasMore = isUrgent || found.updates.length > row.announcedNewer;
  if (hasMore && !isUrgent && wasAnnouncedToday(row, now)) return;
  const newer = found.updates.length;
  const announcement = outdated(build, { facts, newer, security }, now);
  const announced = hasMore ? { at: new Date(now), newer, security, announcement } : undefined;
  await saveDecision(db, row, { contents, announced });
}

const nameOf = ({ name, available }: PackageUpdate): string => `${name} ${available}`;

const wasAnnouncedToday = ({ announcedAt }: ImageUpdatesRow, now: number): boolean =>
  announcedAt !== null && now - announcedAt.getTime() < announcedEveryMs;

interface Outdated {
  facts: NonNullable<Awaited<ReturnType<typeof findBuildOfEvent>>>;
  newer: number;
  security: readonly string[];
}

function outdated({ uid }: Build, { facts, newer, security }: Outdated, at: number): Announcement {
  const { account, id, applianceId, name, version, imageType } = facts;
  const image = {
    build_id: id,
    appliance_id: applianceId,
    name,
    version,
    image_type: imageType,
    newer,
    security: security.length,
    packages: security.slice(0, maxNamed),
  };
  const event = "image.outdated";
  return { key: `image ${uid} ${event} ${at}`, event, at, account, subject: { image } };
}
