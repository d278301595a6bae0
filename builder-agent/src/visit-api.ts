import { Readable } from "node:stream";
import { guestHead, guestHeadHeader, type GuestAnswer } from "./contract.ts";
import { RemoteRefusal } from "./retry.ts";
import type { Lease } from "./lease.ts";
import { webStream } from "./web-stream.ts";

/** What the agent tells the Worker about one visitor of a guest's web server. Never repeated: both bodies are streams. */
export interface VisitApi {
  /** The body of the visitor's request. */
  readVisit(visit: VisitLease, signal: AbortSignal): Promise<Readable>;
  /** Settles when the visitor has all of it. Rejects when the visitor has left. */
  answerVisit(visit: VisitLease, answer: VisitAnswer, signal: AbortSignal): Promise<void>;
}

interface VisitLease extends Lease {
  visit: string;
}

interface VisitAnswer {
  head: GuestAnswer;
  body: Readable;
}

/** `headersOf` makes the credentials of a call about claimed work. */
export function visitCalls(url: string, headersOf: (lease: Lease) => Record<string, string>): VisitApi {
  const call = async (lease: VisitLease, verb: string, init: RequestInit & { duplex?: "half" }) => {
    const path = `/agent/testdrives/${lease.id}/visits/${encodeURIComponent(lease.visit)}/${verb}`;
    const headers = { ...headersOf(lease), ...init.headers };
    const answer = await fetch(url + path, { ...init, headers, redirect: "error" });
    if (answer.ok) return answer;
    throw new RemoteRefusal(path, answer.status, (await answer.text().catch(() => "")).slice(0, 300));
  };
  return {
    readVisit: async (lease, signal) => {
      const { body } = await call(lease, "body", { signal });
      return Readable.from(body ?? [], { objectMode: false });
    },
    answerVisit: async (lease, { head, body }, signal) => {
      const headers = { [guestHeadHeader]: guestHead(head), "content-type": "application/octet-stream" };
      const init = { method: "POST", headers, body: webStream(body), duplex: "half", signal } as const;
      try {
        const answer = await call(lease, "answer", init);
        await answer.body?.cancel();
      } finally {
        body.destroy(); // fetch leaves a body alone, and with it the guest's connection, when its own connection fails
      }
    },
  };
}
