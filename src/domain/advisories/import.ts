import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { isOutside } from "#domain/outside-address";
import { DownloadFailed, askOutside, outsideFetch } from "#domain/outside";
import { readDebianAnnouncements } from "#lib/advisories/debian-announcements";
import { readDebianTracker } from "#lib/advisories/debian-tracker";
import { readExploited } from "#lib/advisories/exploited";
import { readOsv } from "#lib/advisories/osv";
import { rest } from "#lib/loop/pace";
import { FeedFault, type SourceAdvisories } from "#lib/advisories/advisory";
import type { AdvisoryFeed } from "#model/advisory";
import { deleteOtherAdvisories, listFeeds, saveAdvisories, saveFeed, type AdvisoryFeedRow } from "#storage/advisories";
import type { Database } from "#storage/db";
import { saveExploited } from "#storage/exploited-advisories";

type Import = (db: Database, body: ReadableStream<Uint8Array>) => Promise<number>;

const imports: Record<AdvisoryFeed, Import> = {
  debian: (db, body) => importGroups(db, "debian", readDebianTracker(textOf(body), rest)),
  dsa: (db, body) => importGroups(db, "dsa", readDebianAnnouncements(textOf(body), rest)),
  osv: (db, body) => importGroups(db, "osv", readOsv(textOf(body), rest)),
  exploited: importExploited,
};

/** Debian's tracker has 70 MB. */
const maxBytes = 512 * 1024 * 1024;
/** The approximate number of advisories that one statement stores. */
const storedAtOnce = 1500;

interface Given {
  feed: AdvisoryFeed;
  /** The file or URL that the data comes from. */
  origin: string;
  body: ReadableStream<Uint8Array>;
}

/**
 * Replaces the stored data of a feed. Returns the number of its pairs of a source package and a release, or of
 * exploited vulnerabilities. Repeating it is safe.
 */
export async function importAdvisories(db: Database, { feed, origin, body }: Given, now: number): Promise<number> {
  const sources = await imports[feed](db, body).catch((error: unknown) => {
    if (error instanceof FeedFault) throw new Refusal("invalid_value", { message: error.message });
    throw error;
  });
  if (sources === 0) throw new Refusal("invalid_value", { message: `There are no advisories in ${origin}.` });
  await saveFeed(db, { feed, origin, readAt: new Date(now), sources, problem: "" });
  return sources;
}

/** Deletes last whatever the feed no longer contains, so that an import that fails in the middle only adds. */
async function importGroups(
  db: Database,
  feed: AdvisoryFeed,
  groups: AsyncIterable<SourceAdvisories>,
): Promise<number> {
  const kept: Pick<SourceAdvisories, "source" | "release">[] = [];
  let waiting: SourceAdvisories[] = [];
  let size = 0;
  const store = async () => {
    await saveAdvisories(db, feed, waiting);
    waiting = [];
    size = 0;
    await rest();
  };
  for await (const group of groups) {
    kept.push({ source: group.source, release: group.release });
    waiting.push(group);
    size += group.advisories.length;
    if (size >= storedAtOnce) await store();
  }
  if (kept.length === 0) return 0;
  await store();
  await deleteOtherAdvisories(db, feed, kept);
  return kept.length;
}

async function importExploited(db: Database, body: ReadableStream<Uint8Array>): Promise<number> {
  const names = await readExploited(textOf(body), rest);
  if (names.length > 0) await saveExploited(db, names);
  return names.length;
}

async function* textOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new FeedFault(`The feed has more than ${maxBytes / 1024 ** 2} MiB.`);
    yield decoder.decode(chunk, { stream: true });
  }
  yield decoder.decode();
}

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;
/** Less than a chore may take, so that a chore with a slow mirror can still save the reason. */
const longestSeconds = 100;

/**
 * A chore: reads a feed that has a URL, once a day, or an hour after a failure. The request is noted before it is sent,
 * so that two simultaneous runs do not both send it. Returns whether another feed is due.
 */
export async function readFeeds({ env, db }: Services, now: number): Promise<boolean> {
  const [feed, ...others] = (await listFeeds(db)).filter((one) => isDue(one, now));
  if (!feed) return false;
  await saveFeed(db, {
    feed: feed.feed,
    triedAt: new Date(now),
    problem: "It is being read, or that was interrupted.",
  });
  try {
    await readFeed({ env, db }, feed, now);
    await saveFeed(db, { feed: feed.feed, problem: "" });
  } catch (error) {
    await saveFeed(db, { feed: feed.feed, problem: problemOf(error) });
    if (!isExpected(error)) throw error;
  }
  return others.length > 0;
}

type Followed = Pick<AdvisoryFeedRow, "feed"> & { url: string };

const isDue = (row: AdvisoryFeedRow, now: number): row is AdvisoryFeedRow & Followed =>
  row.url !== null && (row.triedAt === null || now - row.triedAt.getTime() >= (row.problem === "" ? dayMs : hourMs));

const isExpected = (error: unknown): error is Error => error instanceof DownloadFailed || error instanceof Refusal;

function problemOf(error: unknown): string {
  if (isExpected(error)) return error.message;
  const isTooSlow = error instanceof Error && error.name === "TimeoutError";
  return isTooSlow
    ? `It could not be read in ${longestSeconds} s. Download it, and import the file.`
    : "The connection broke before its end.";
}

/** Reads a feed from this URL from now on, once a day. Null stops that. */
export async function followFeed({ env, db }: Services, feed: AdvisoryFeed, url: string | null): Promise<void> {
  if (url !== null && !isOutside(env, new URL(url))) {
    throw new Refusal("invalid_value", { message: "The service must not connect to this address." });
  }
  await saveFeed(db, { feed, url, triedAt: null, problem: "" });
}

async function readFeed({ env, db }: Services, { feed, url }: Followed, now: number): Promise<void> {
  const signal = AbortSignal.timeout(longestSeconds * 1000);
  const answer = await askOutside(env, new URL(url), { fetchOutside: outsideFetch(env), signal });
  if (!answer.ok || !answer.body) throw new DownloadFailed(`${url} answers with status ${answer.status}.`);
  await importAdvisories(db, { feed, origin: url, body: answer.body }, now);
}
