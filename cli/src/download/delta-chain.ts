import { send } from "../client/send.ts";
import { headerBytes, readHeader, type DeltaHeader } from "../delta.ts";
import { wholeOf } from "./resumed.ts";

/** The suffix that turns the address of an image into the address of its delta. */
const deltaSuffix = ".delta";
/** The maximum number of deltas that make one disk. */
const maxDeltas = 8;
/** The maximum number of older images that are searched for the deltas of a chain. */
const maxAsked = 30;
/**
 * Several deltas must be smaller than the image by this factor: they take longer than one download of the same size,
 * because a disk is written for each.
 */
const worthwhile = 0.8;

/** A delta that the service offers for download. */
export interface RemoteDelta {
  url: string;
  header: DeltaHeader;
  /** The bytes of the header, and of the whole delta. */
  headerBytes: number;
  bytes: number;
}

interface Wanted {
  /** The address of the image. */
  url: string;
  sha256: string;
  /** Whether a disk is on this machine. */
  isHere: (sha256: string) => boolean;
  /** The addresses of the older images, newest first. */
  older: AsyncIterable<string>;
}

/**
 * The deltas that lead from a disk on this machine to the wanted one, in their order. Several are only used if they are
 * clearly smaller than the image. Undefined if there are none.
 */
export async function deltasTo({ url, sha256, isHere, older }: Wanted): Promise<RemoteDelta[] | undefined> {
  const last = await deltaOf(url);
  if (last?.header.disk.sha256 !== sha256) return undefined;
  if (isHere(last.header.from ?? "")) return [last];
  const most = worthwhile * (await sizeOf(url));
  let chain = [last];
  let asked = 0;
  for await (const image of older) {
    const [first = last] = chain;
    const total = chain.reduce((sum, { bytes }) => sum + bytes, 0);
    if (first.header.from === undefined || total >= most || chain.length === maxDeltas || asked === maxAsked) break;
    asked += 1;
    const delta = await deltaOf(image);
    if (delta?.header.disk.sha256 !== first.header.from) continue;
    chain = [delta, ...chain];
    if (isHere(delta.header.from ?? "")) return total + delta.bytes < most ? chain : undefined;
  }
  return undefined;
}

/** Undefined if there is no delta: the service or the agent is older, or the image has no disk alone. */
async function deltaOf(image: string): Promise<RemoteDelta | undefined> {
  const url = image + deltaSuffix;
  try {
    const answer = await send(url, { headers: { range: `bytes=0-${headerBytes - 1}` } });
    let start = Buffer.alloc(0);
    for await (const bytes of (answer.ok && answer.body) || []) {
      start = Buffer.concat([start, bytes]);
      if (start.length >= headerBytes) break;
    }
    const found = readHeader(start);
    return found && { url, header: found.header, headerBytes: found.bytes, bytes: wholeOf(answer) };
  } catch {
    // The download of the whole image reports what is wrong.
    return undefined;
  }
}

const sizeOf = async (url: string): Promise<number> =>
  await send(url, { method: "HEAD" }).then(
    ({ ok, headers }) => (ok ? Number(headers.get("content-length") ?? 0) : 0),
    () => 0,
  );
