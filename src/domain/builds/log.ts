import type { Services } from "#domain/services";
import { watchBuild, type Progress } from "#domain/builds/build";
import { follow, readLog, sliceBytes, withoutLog } from "#domain/builds/following";
import { withPlaceInQueue } from "#domain/builds/queue";
import { isUnfinished, type Build } from "#storage/builds";
import type { Database } from "#storage/db";

/** Both logs, as they appear in the XML of a finished build. */
export interface BuildTexts {
  /** The agent's own lines. */
  own: string;
  /** The lines from KIWI and from everything that it runs. */
  kiwi: string;
}

const maxTextBytes = 256 * 1024;

/** The end of a build's log, split into Kiln's and KIWI's lines, without control characters. */
export async function readTexts(env: Env, build: Build): Promise<BuildTexts> {
  const { bytes, from } = await readLog(env, build, { from: { last: maxTextBytes }, maxBytes: maxTextBytes });
  const text = stripControls(new TextDecoder().decode(bytes));
  // The first line of a cut log is incomplete.
  const lines = (from === 0 ? text : text.slice(text.indexOf("\n") + 1)).split("\n");
  return { own: lines.filter(isOwn).join("\n"), kiwi: lines.filter((line) => !isOwn(line)).join("\n") };
}

/** The agent's own lines have a mark that distinguishes them from KIWI's. */
const isOwn = (line: string) => /^\[ [A-Z]+ *\]: [\d:]+ \| Kiln: /.test(line);

export const stripControls = (text: string) =>
  text.replace(/\r\n?/g, "\n").replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "");

const pageBytes = 1024 * 1024;

/** The whole log so far and its length. */
export async function openLog(env: Env, build: Build): Promise<{ length: number; pages: AsyncGenerator<Uint8Array> }> {
  const first = await readLog(env, build, { from: 0, maxBytes: pageBytes });
  async function* pages() {
    let { bytes } = first;
    for (let offset = 0; offset < first.length;) {
      const page = bytes.subarray(0, first.length - offset);
      if (page.byteLength === 0) throw new Error(`the log of build ${build.id} ends at ${offset} of ${first.length}`);
      yield page;
      offset += page.byteLength;
      if (offset < first.length) ({ bytes } = await readLog(env, build, { from: offset, maxBytes: pageBytes }));
    }
  }
  return { length: first.length, pages: pages() };
}

/** A message to a client that follows a build. */
export type BuildNews =
  /** Whole lines. `offset` is the position after them. */
  | { type: "log"; text: string; offset: number }
  | { type: "progress"; progress: Progress }
  | { type: "silence" }
  | { type: "end" };

const tailBytes = 16 * 1024;

/**
 * Follows a build until it ends: first the end of its log, or everything from `from` on, then every new line and all
 * progress.
 */
export async function* followBuild(
  env: Env,
  db: Database,
  build: Build,
  from: number | undefined,
): AsyncGenerator<BuildNews> {
  const following = await follow(env, build, "log");
  try {
    let place = from ?? (await startOfTail(env, build));
    let [partOfLine, said]: [Uint8Array, string] = [new Uint8Array(), ""];
    for (;;) {
      const slice = await following.next(place + partOfLine.byteLength);
      const progress = await outsideView({ env, db }, build, slice.progress);
      const bytes = Buffer.concat([partOfLine, slice.bytes]);
      const isLast = place + bytes.byteLength >= slice.length && !isGoingOn(progress);
      const lines = isLast ? bytes : wholeLines(bytes);
      const words = wordsOf(progress);

      place += lines.byteLength;
      if (lines.byteLength > 0) yield { type: "log", text: new TextDecoder().decode(lines), offset: place };
      if (words !== said) yield { type: "progress", progress };
      else if (lines.byteLength === 0 && !isLast) yield { type: "silence" };
      if (isLast) return yield { type: "end" };
      said = words;
      partOfLine = bytes.subarray(lines.byteLength);
    }
  } finally {
    following.close();
  }
}

/**
 * Follows only the progress of a build until it ends. Lines of the log are not sent, because there may be many each
 * second.
 */
export async function* followProgress(
  env: Env,
  db: Database,
  build: Build,
): AsyncGenerator<Exclude<BuildNews, { type: "log" }>> {
  const following = await follow(env, build, "progress");
  try {
    let said = "";
    for (;;) {
      const { progress: known } = await following.next(withoutLog);
      const progress = await outsideView({ env, db }, build, known);
      const words = wordsOf(progress);
      if (words !== said) yield { type: "progress", progress };
      if (!isGoingOn(progress)) return yield { type: "end" };
      if (words === said) yield { type: "silence" };
      said = words;
    }
  } finally {
    following.close();
  }
}

export const isGoingOn = ({ state }: Progress): boolean => isUnfinished({ status: state });

/** The parts of the progress that a client sees. */
const wordsOf = ({ state, percent, message, queuePosition }: Progress): string =>
  JSON.stringify([state, percent, message, queuePosition]);

/** An object may know that a build has ended before D1 does. Users see the end only when both know it. */
const outsideView = ({ env, db }: Services, build: Build, progress: Progress | undefined): Promise<Progress> =>
  progress && isGoingOn(progress)
    ? withPlaceInQueue(db, build.id, progress)
    : watchBuild({ env, db }, build.accountId, build.id);

/** Where the last lines begin. */
async function startOfTail(env: Env, build: Build): Promise<number> {
  const { from, bytes } = await readLog(env, build, { from: { last: tailBytes }, maxBytes: tailBytes });
  return from === 0 ? 0 : from + bytes.indexOf(newline) + 1;
}

const newline = 10;

/**
 * The bytes up to the last line end, so that no character is cut. A line longer than a slice is cut between two
 * characters.
 */
function wholeLines(bytes: Uint8Array): Uint8Array {
  const end = bytes.lastIndexOf(newline) + 1;
  if (end > 0 || bytes.byteLength < sliceBytes) return bytes.subarray(0, end);
  let cut = bytes.byteLength;
  while (cut > 0 && isContinuation(bytes[cut - 1])) cut -= 1;
  return bytes.subarray(0, Math.max(1, cut - 1));
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;
