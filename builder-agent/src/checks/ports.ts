import { once } from "node:events";
import { IncomingMessage, request as askHttp } from "node:http";
import { request as askHttps } from "node:https";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { guestAddress } from "../contract.ts";
import { hasAccepted } from "../testdrive/guest-network.ts";
import type { Endpoint, Qemu } from "../testdrive/qemu.ts";

/** The guest's reaction to a connection. `silent` means that it did not react. */
export type PortState = "open" | "refused" | "silent";

const askEveryMs = 50;

/**
 * Connects to a port of the guest. QEMU accepts each connection before the guest does, so only QEMU's list of
 * connections shows whether the guest has. Our side stays open, so that the list still has a connection that the guest
 * has closed.
 */
export async function tryPort(
  { qemu, port }: { qemu: Pick<Qemu, "execute" | "endpoints">; port: number },
  withinMs: number,
): Promise<PortState> {
  const endpoint = qemu.endpoints.get(port);
  if (!endpoint) throw new Error(`port ${port} is not forwarded`);
  const socket = connect({ ...endpoint, allowHalfOpen: true });
  let isOver = false;
  socket.on("error", () => (isOver = true));
  socket.on("end", () => (isOver = true));
  socket.resume();
  try {
    for (const until = performance.now() + withinMs; performance.now() < until;) {
      const wasOver = isOver;
      if (await hasAccepted(qemu, port)) return "open";
      if (wasOver) return "refused";
      await sleep(askEveryMs);
    }
    return "silent";
  } finally {
    socket.destroy();
  }
}

const maxBodyBytes = 256 * 1024;

interface Page {
  status: number;
  /** The first 256 KiB of the page. */
  body: string;
}

/** How a page is requested. A new machine has made its certificate itself, so each certificate is accepted. */
const schemes = {
  http: { ask: askHttp, usualPort: 80, options: {} },
  https: { ask: askHttps, usualPort: 443, options: { rejectUnauthorized: false, servername: "" } },
};

export interface PageAddress {
  scheme: keyof typeof schemes;
  port: number;
  path: string;
}

/** Requests a page of the guest. Rejects if no answer comes. */
export async function getPage(endpoint: Endpoint, { scheme, port, path }: PageAddress, withinMs: number) {
  const { ask, usualPort, options } = schemes[scheme];
  const signal = AbortSignal.timeout(withinMs);
  const asked = ask({
    ...("path" in endpoint ? { socketPath: endpoint.path } : endpoint),
    ...options,
    path,
    headers: { host: port === usualPort ? guestAddress : `${guestAddress}:${port}`, connection: "close" },
    agent: false,
    insecureHTTPParser: true, // the same as for visitors of a testdrive
    signal,
  });
  asked.end();
  const [answer]: unknown[] = await once(asked, "response", { signal });
  if (!(answer instanceof IncomingMessage)) throw new Error("no answer came");
  return { status: answer.statusCode ?? 0, body: await firstOf(answer) } satisfies Page;
}

async function firstOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.length;
    if (size >= maxBodyBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBodyBytes).toString();
}
