import { Readable } from "node:stream";
import { contentSizeHeader, guestHead, guestHeadHeader, type GuestAnswer, type ModifiedAnswer } from "./contract.ts";
import type { Lease } from "./lease.ts";
import { okOrRefusal } from "./retry.ts";

/**
 * Calls about a session while a client waits for the answer. They are never repeated: bodies are streams, and a late
 * answer has no reader.
 */
export interface SessionApi {
  /** The body of a request that a visitor sends to the guest's web server. */
  readVisit(visit: VisitLease, signal: AbortSignal): Promise<Readable>;
  /** Settles when the visitor has the whole answer. Rejects when the visitor has left. */
  answerVisit(visit: VisitLease, answer: VisitAnswer, signal: AbortSignal): Promise<void>;
  /**
   * Answers a request about modified files. Settles when the client has the whole answer. Rejects when the client has
   * left.
   */
  answerModified(request: ModifiedLease, answer: ModifiedAnswer | ModifiedContent, signal: AbortSignal): Promise<void>;
  /** The screen of the booted guest, as PNG. */
  sendScreen(testdrive: Lease, png: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void>;
}

interface VisitLease extends Lease {
  visit: string;
}

interface VisitAnswer {
  head: GuestAnswer;
  body: Readable;
}

interface ModifiedLease extends Lease {
  request: string;
}

export interface ModifiedContent {
  kind: "content";
  bytes: AsyncIterable<Buffer>;
  /** Null if it is unknown before the end. */
  size: number | null;
}

type Init = RequestInit & { duplex?: "half" };

/** @param headersOf makes the credentials of a call about claimed work */
export function sessionCalls(url: string, headersOf: (lease: Lease) => Record<string, string>): SessionApi {
  const call = async (lease: Lease, verb: string, init: Init) => {
    const path = `/agent/testdrives/${lease.id}/${verb}`;
    const headers = { ...headersOf(lease), ...init.headers };
    return await okOrRefusal(path, await fetch(url + path, { ...init, headers, redirect: "error" }));
  };
  const post = async (lease: Lease, verb: string, init: Init) => {
    const answer = await call(lease, verb, { ...init, method: "POST" });
    await answer.body?.cancel();
  };
  return {
    readVisit: async (lease, signal) => {
      const { body } = await call(lease, `visits/${encodeURIComponent(lease.visit)}/body`, { signal });
      return Readable.from(body ?? [], { objectMode: false });
    },
    answerVisit: async (lease, { head, body }, signal) => {
      const sent = sentBytes(body, { [guestHeadHeader]: guestHead(head) });
      try {
        await post(lease, `visits/${encodeURIComponent(lease.visit)}/answer`, { ...sent, signal });
      } finally {
        body.destroy(); // if fetch's own connection fails, fetch leaves the body open, and so the guest's connection
      }
    },
    answerModified: (lease, answer, signal) =>
      post(lease, `modified/${encodeURIComponent(lease.request)}`, { ...sentAnswer(answer), signal }),
    sendScreen: (lease, png, signal) =>
      post(lease, "screen", { headers: { "content-type": "image/png" }, body: new Blob([png]), signal }),
  };
}

function sentAnswer(answer: ModifiedAnswer | ModifiedContent): Init {
  if (answer.kind !== "content")
    return { headers: { "content-type": "application/json" }, body: JSON.stringify(answer) };
  const { bytes, size } = answer;
  return sentBytes(bytes, size === null ? {} : { [contentSizeHeader]: String(size) });
}

const sentBytes = (bytes: AsyncIterable<Uint8Array>, headers: Record<string, string>): Init => ({
  headers: { ...headers, "content-type": "application/octet-stream" },
  body: webStream(bytes),
  duplex: "half",
});

/** A body for fetch, which reads `source` as fast as the Worker takes it. */
function webStream(source: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(Uint8Array.from(value)); // a source may use its buffer again
    },
    cancel: async () => void (await chunks.return?.()),
  });
}
