import { peek } from "#lib/repodata/streams";

/** The first bytes of a body, and a request with the whole body. */
export interface BodyStart {
  start: Uint8Array<ArrayBuffer>;
  /** Whether `start` is the whole body. */
  isWhole: boolean;
  request: Request;
}

/** Reads the first `bytes` of the body, or all of it if it is shorter. */
export async function startOfBody(request: Request, bytes: number): Promise<BodyStart> {
  if (request.body === null) return { start: new Uint8Array(0), isWhole: true, request };
  const { start, stream } = await peek(request.body, bytes + 1);
  const isWhole = start.byteLength <= bytes;
  const again = new Request(request, { method: request.method, body: isWhole ? start : stream });
  return { start: start.slice(0, bytes), isWhole, request: again };
}
