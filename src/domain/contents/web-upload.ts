import { askOutside, DownloadFailed, outsideConnect, outsideFetch, type OutsideEnv } from "#domain/outside";
import { isOutside } from "#domain/outside-address";
import { Refusal } from "#domain/refusal";
import { ftpDownload, ftpFileOf, FtpRefusal } from "#lib/ftp/download";

/** How long the server may be silent, and how long the whole download may take. */
const patience = { silenceMs: 60_000, totalMs: 10 * 60_000 };
const longestAddress = 2000;
const chunkBytes = 128 * 1024;

/** The URL of a file on the web. Whether the URL may be accessed is checked when the file is downloaded. */
export function parseWebAddress(text: string): URL {
  const trimmed = text.trim();
  if (!/^(https?|ftp):\/\//i.test(trimmed)) throw new Refusal("invalid_protocol");
  const url = URL.parse(trimmed);
  if (!url || text.length > longestAddress)
    throw new Refusal("invalid_value", { message: "The url is not a valid URL." });
  if (url.protocol === "ftp:" && !ftpFileOf(url)) {
    throw new Refusal("invalid_value", { message: "The url does not name a file on an FTP server." });
  }
  return url;
}

/** The last segment of a URL, decoded. Undefined if the URL ends in a slash. */
export function fileNameOf({ pathname }: URL): string | undefined {
  const last = /[^/]*$/.exec(pathname.replace(/;type=[aid]$/i, ""))?.[0] ?? "";
  try {
    return decodeURIComponent(last) || undefined;
  } catch {
    return last;
  }
}

/** A file whose download has begun. */
export interface WebFile {
  /** Fails with a DownloadFailed. */
  body: ReadableStream<Uint8Array>;
  /** The announced size, or 0 if it is unknown. The actual size may differ. */
  announcedBytes: number;
}

/**
 * Starts to download a file by HTTP, HTTPS or FTP. Every failure, even in the middle of the file, is a DownloadFailed.
 */
export async function openWebFile(env: OutsideEnv, url: URL, limits = patience): Promise<WebFile> {
  const patient = { silenceMs: limits.silenceMs, deadline: AbortSignal.timeout(limits.totalMs) };
  const source = url.protocol === "ftp:" ? openFtp(env, url) : await openHttp(env, url, patient);
  return { body: withPatience(source, url, patient), announcedBytes: source.announcedBytes };
}

interface Source {
  read: () => Promise<ReadableStreamReadResult<Uint8Array>>;
  cancel: (reason?: unknown) => Promise<void>;
  announcedBytes: number;
}

interface Patience {
  silenceMs: number;
  deadline: AbortSignal;
}

function openFtp(env: OutsideEnv, url: URL): Source {
  const file = ftpFileOf(url);
  if (!file || !isOutside(env, url)) throw new DownloadFailed(`The service must not connect to ftp://${url.host}.`);
  const reader = ftpDownload(file, outsideConnect(env, url)).getReader();
  return { read: () => reader.read(), cancel: (reason) => reader.cancel(reason), announcedBytes: 0 };
}

async function openHttp(env: OutsideEnv, url: URL, { silenceMs, deadline }: Patience): Promise<Source> {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), silenceMs);
  const headers = { "accept-encoding": "identity", "user-agent": "Kiln" };
  const asking = { fetchOutside: outsideFetch(env), signal: AbortSignal.any([deadline, silent.signal]), headers };
  const answer = await askOutside(env, url, asking).finally(() => clearTimeout(timer));
  if (!answer.ok) {
    await answer.body?.cancel();
    throw new DownloadFailed(`${url.host} answered ${answer.status}.`);
  }
  // The runtime returns a few kilobytes at a time unless the reader asks for more.
  const reader = (answer.body ?? new Blob([]).stream()).getReader({ mode: "byob" });
  return {
    read: () => reader.read(new Uint8Array(chunkBytes)),
    cancel: (reason) => reader.cancel(reason),
    announcedBytes: Number(answer.headers.get("content-length") ?? 0),
  };
}

/** The bytes of a source. Fails if it is silent for too long or the whole download takes too long. */
function withPatience(source: Source, url: URL, patience: Patience): ReadableStream<Uint8Array> {
  let hasBegun = url.protocol !== "ftp:";
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await nextOf(source, patience).catch(async (error: unknown) => {
          await source.cancel(error).catch(() => {}); // it has already failed
          throw new DownloadFailed(reasonOf(error, { host: url.host, hasBegun, ...patience }), { cause: error });
        });
        hasBegun = true;
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => source.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

async function nextOf(source: Source, { silenceMs, deadline }: Patience) {
  // The deadline may have passed since the last read. A listener that is added now would miss it, and a slow source
  // would never end.
  deadline.throwIfAborted();
  const impatient = Promise.withResolvers<never>();
  const giveUp = () => impatient.reject(new DownloadFailed("The server stopped sending."));
  const timer = setTimeout(giveUp, silenceMs);
  deadline.addEventListener("abort", giveUp);
  try {
    return await Promise.race([source.read(), impatient.promise]);
  } finally {
    clearTimeout(timer);
    deadline.removeEventListener("abort", giveUp);
  }
}

function reasonOf(
  error: unknown,
  { host, hasBegun, deadline }: { host: string; hasBegun: boolean } & Patience,
): string {
  if (deadline.aborted) return "The download takes too long.";
  if (error instanceof DownloadFailed) return error.message;
  if (error instanceof FtpRefusal) return `${host} answered ${error.code}.`;
  return hasBegun ? `${host} interrupted the download.` : `${host} cannot be reached.`;
}
