import type { WebSocket } from "ws";
import { contentSizeHeader, type ModifiedAnswer } from "./contract.ts";
import { RemoteRefusal } from "./retry.ts";
import type { Lease } from "./lease.ts";
import { webStream } from "./web-stream.ts";

/** What the agent tells the Worker about the files of a session. An answer is never repeated: a late one has no reader. */
export interface ModifiedApi {
  /** A socket that still connects. */
  openModified(testdrive: Lease): WebSocket;
  /** Settles when the client has all of it. Rejects when the client has left. */
  answerModified(request: ModifiedLease, answer: ModifiedAnswer | ModifiedContent, signal: AbortSignal): Promise<void>;
}

interface ModifiedLease extends Lease {
  request: string;
}

export interface ModifiedContent {
  kind: "content";
  bytes: AsyncIterable<Buffer>;
  /** Null: not known before its end. */
  size: number | null;
}

export interface ModifiedConnection {
  url: string;
  dial: (path: string, lease: Lease) => WebSocket;
  /** The credentials of a call about claimed work. */
  headersOf: (lease: Lease) => Record<string, string>;
}

export const modifiedCalls = ({ url, dial, headersOf }: ModifiedConnection): ModifiedApi => ({
  openModified: (testdrive) => dial(`/agent/testdrives/${testdrive.id}/modified`, testdrive),
  answerModified: async (lease, answer, signal) => {
    const path = `/agent/testdrives/${lease.id}/modified/${encodeURIComponent(lease.request)}`;
    const { headers, ...init } = sentAs(answer);
    const told = await fetch(url + path, {
      ...init,
      method: "POST",
      headers: { ...headersOf(lease), ...headers },
      redirect: "error",
      signal,
    });
    if (!told.ok) throw new RemoteRefusal(path, told.status, (await told.text().catch(() => "")).slice(0, 300));
    await told.body?.cancel();
  },
});

type Sent = Pick<RequestInit, "body"> & { headers: Record<string, string>; duplex?: "half" };

function sentAs(answer: ModifiedAnswer | ModifiedContent): Sent {
  if (answer.kind !== "content") {
    return { headers: { "content-type": "application/json" }, body: JSON.stringify(answer) };
  }
  const { bytes, size } = answer;
  return {
    headers: {
      "content-type": "application/octet-stream",
      ...(size === null ? {} : { [contentSizeHeader]: String(size) }),
    },
    body: webStream(bytes),
    duplex: "half",
  };
}
