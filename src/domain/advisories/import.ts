import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { isOutside } from "#domain/outside-address";
import { DownloadFailed, askOutside, outsideFetch } from "#domain/outside";
import { readDebianTracker } from "#lib/advisories/debian-tracker";
import { JsonFault } from "#lib/advisories/json-values";
import { readOsv } from "#lib/advisories/osv";
import { rest } from "#lib/loop/pace";
import type { SourceAdvisories } from "#lib/advisories/advisory";
import type { AdvisoryFeed } from "#model/advisory";
import { deleteOtherAdvisories, listFeeds, saveAdvisories, saveFeed } from "#storage/advisories";
import type { Database } from "#storage/db";

const readers = { debian: readDebianTracker, osv: readOsv } as const;

/** Debian's tracker has 70 MB. */
const maxBytes = 512 * 1024 * 1024;
/** How many advisories one statement stores, about. */
const storedAtOnce = 1500;

interface Given {
  feed: AdvisoryFeed;
  /** The file or URL that it comes from. */
  origin: string;
  body: ReadableStream<Uint8Array>;
}

/**
 * Replaces what is known from a feed, and returns how many pairs of a source package and a release it has. What is no longer in the
 * feed is deleted last, so an import that fails in the middle only adds. Repeating it is safe.
 */
export async function importAdvisories(db: Database, { feed, origin, body }: Given, now: number): Promise<number> {
  const kept: Pick<SourceAdvisories, "source" | "release">[] = [];
  let waiting: SourceAdvisories[] = [];
  let size = 0;
  const store = async () => {
    await saveAdvisories(db, feed, waiting);
    waiting = [];
    size = 0;
    await rest();
  };
  try {
    for await (const group of readers[feed](textOf(body), rest)) {
      kept.push({ source: group.source, release: group.release });
      waiting.push(group);
      size += group.advisories.length;
      if (size >= storedAtOnce) await store();
    }
  } catch (error) {
    if (error instanceof JsonFault) throw new Refusal("invalid_value", { message: error.message });
    throw error;
  }
  if (kept.length === 0) throw new Refusal("invalid_value", { message: `There are no advisories in ${origin}.` });
  await store();
  await deleteOtherAdvisories(db, feed, kept);
  await saveFeed(db, { feed, origin, readAt: new Date(now), sources: kept.length, problem: "" });
  return kept.length;
}

async function* textOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new JsonFault(`The feed has more than ${maxBytes / 1024 ** 2} MiB.`);
    yield decoder.decode(chunk, { stream: true });
  }
  yield decoder.decode();
}

const dayMs = 24 * 60 * 60_000;
const longestMs = 15 * 60_000;

/** A chore: reads the feeds that have a URL, once a day. The next request is noted before, so that two runs do not repeat it. */
export async function readFeeds({ env, db }: Services, now: number): Promise<void> {
  for (const { feed, url, triedAt } of await listFeeds(db)) {
    if (url === null || (triedAt !== null && now - triedAt.getTime() < dayMs)) continue;
    await saveFeed(db, { feed, triedAt: new Date(now) });
    const problem = await readFeed({ env, db }, { feed, url }, now).then(
      () => "",
      (error: unknown) => {
        if (error instanceof DownloadFailed || error instanceof Refusal) return error.message;
        throw error;
      },
    );
    await saveFeed(db, { feed, problem });
  }
}

/** Reads a feed from a URL from now on, once a day; null ends that. */
export async function followFeed({ env, db }: Services, feed: AdvisoryFeed, url: string | null): Promise<void> {
  if (url !== null && !isOutside(env, new URL(url))) {
    throw new Refusal("invalid_value", { message: "The service must not connect to this address." });
  }
  await saveFeed(db, { feed, url, triedAt: null, problem: "" });
}

async function readFeed(
  { env, db }: Services,
  { feed, url }: { feed: AdvisoryFeed; url: string },
  now: number,
): Promise<void> {
  const signal = AbortSignal.timeout(longestMs);
  const answer = await askOutside(env, new URL(url), { fetchOutside: outsideFetch(env), signal });
  if (!answer.ok || !answer.body) throw new DownloadFailed(`${url} answers with status ${answer.status}.`);
  await importAdvisories(db, { feed, origin: url, body: answer.body }, now);
}
