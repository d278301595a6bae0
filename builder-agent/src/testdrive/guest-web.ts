import { once } from "node:events";
import { IncomingMessage, request as askHttp, type ClientRequest } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  GuestAnswer,
  guestAddress,
  guestHead,
  maxGuestHeadBytes,
  maxVisitMs,
  shownGuestHeaders,
  type GuestRequest,
} from "../contract.ts";
import type { WorkerApi } from "../worker-api.ts";
import { joinGuestSocket, openGuestSocket } from "./guest-socket.ts";
import type { Lease } from "../lease.ts";
import type { Endpoint } from "./qemu.ts";

/** One request of a visitor for the guest's web server. */
export interface Visit {
  visit: string;
  request: GuestRequest;
  testdrive: Lease;
  /** Null if this machine has no network. */
  endpoint: Endpoint | null;
  api: Pick<WorkerApi, "readVisit" | "answerVisit" | "openVisit">;
  signal: AbortSignal;
  /** Shorter in tests. */
  limits?: Partial<Limits>;
}

interface Limits {
  /** A connection without data for this time is closed. */
  silenceMs: number;
  /** The limit for the head of the guest's answer. The Worker waits slightly longer. */
  answerMs: number;
  /** The limit for the whole answer. */
  visitMs: number;
}

const usualLimits: Limits = { silenceMs: 30_000, answerMs: 35_000, visitMs: maxVisitMs };

type LimitedVisit = Visit & { limits: Limits };

interface Reply {
  head: GuestAnswer;
  body: Readable;
}

/** Forwards the request to the guest. The visitor gets the guest's answer, or an error page if that is not valid. */
export async function answerVisit(given: Visit): Promise<void> {
  const limits = { ...usualLimits, ...given.limits };
  if (given.request.isSocket) return await answerSocket({ ...given, limits });
  const signal = AbortSignal.any([given.signal, AbortSignal.timeout(limits.visitMs)]);
  const visit = { ...given, limits, signal };
  await bring(visit, await askGuest(visit).catch(excuse));
}

/** A WebSocket stays open until one side closes it or the session ends. */
async function answerSocket(visit: LimitedVisit): Promise<void> {
  const { request, endpoint, limits, api, testdrive, signal } = visit;
  const opened =
    endpoint === null
      ? excuse(noNetwork())
      : await openGuestSocket({ request, endpoint, limitMs: limits.answerMs, late: tooLate(limits) }).catch(excuse);
  if ("head" in opened) return await bring(visit, opened);
  if (opened instanceof IncomingMessage) return await bring(visit, await replyOf(opened).catch(excuse));
  const { protocol } = opened;
  await joinGuestSocket(opened, api.openVisit(testdrive, { visit: visit.visit, protocol }), signal);
}

async function bring(visit: Visit, { head, body }: Reply): Promise<void> {
  const { testdrive, api, signal } = visit;
  try {
    await api.answerVisit({ ...testdrive, visit: visit.visit }, { head, body }, signal);
  } finally {
    body.destroy();
  }
}

async function askGuest(visit: LimitedVisit): Promise<Reply> {
  if (visit.endpoint === null) throw noNetwork();
  const asked = openRequest(visit, visit.endpoint);
  const answered = once(asked, "response", { signal: visit.signal });
  // If sending the body fails after the guest has answered, the answer counts.
  asked.on("error", () => {});
  sendBody(visit, asked).catch((error: Error) => asked.destroy(error));
  const late = tooLate(visit.limits);
  const timer = setTimeout(() => asked.destroy(late), visit.limits.answerMs);
  const [answer]: unknown[] = await answered.finally(() => clearTimeout(timer));
  return await replyOf(answer);
}

async function replyOf(answer: unknown): Promise<Reply> {
  if (!(answer instanceof IncomingMessage)) throw new Excuse(502, noHttp);
  const head = { status: answer.statusCode ?? 0, headers: shownOf(answer) };
  if (!GuestAnswer.safeParse(head).success || guestHead(head).length > maxGuestHeadBytes) {
    answer.destroy();
    throw new Excuse(502, noHttp);
  }
  return { head, body: answer };
}

function openRequest({ request, signal, limits: { silenceMs } }: LimitedVisit, endpoint: Endpoint): ClientRequest {
  const asked = askHttp({
    ...("path" in endpoint ? { socketPath: endpoint.path } : endpoint),
    method: request.method,
    path: request.target,
    headers: { ...request.headers, host: guestAddress, connection: "close" },
    agent: false,
    // CGI programs may end their lines with a bare newline. The connection is used once, so this is safe.
    insecureHTTPParser: true,
    signal,
  });
  const silent = new Excuse(504, `The machine's web server has sent nothing for ${silenceMs / 1000} seconds.`);
  return asked.setTimeout(silenceMs, () => void asked.destroy(silent));
}

async function sendBody({ request, testdrive, visit, api, signal }: Visit, asked: ClientRequest): Promise<void> {
  if (!request.hasBody) return void asked.end();
  const body = await api.readVisit({ ...testdrive, visit }, signal);
  await pipeline(body, asked);
}

function shownOf({ headers }: IncomingMessage): Record<string, string> {
  const shown = shownGuestHeaders.flatMap((name) => {
    const value = headers[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  return Object.fromEntries(shown);
}

/** The answer to the visitor if the guest sends none. */
class Excuse extends Error {
  readonly status: number;

  constructor(status: number, sentence: string) {
    super(sentence);
    this.status = status;
  }
}

const tooLate = ({ answerMs }: Limits) =>
  new Excuse(504, `The machine's web server has not answered within ${answerMs / 1000} seconds.`);
const noNetwork = () => new Excuse(502, "This machine has no network.");
const noHttp = "The answer of the machine's web server cannot be forwarded.";
const noServer = "No web server answers on port 80 of the machine. It may still be starting.";

function excuse(error: unknown): Reply {
  const isParserError = error instanceof Error && "code" in error && String(error.code).startsWith("HPE_");
  const { status, message } = error instanceof Excuse ? error : new Excuse(502, isParserError ? noHttp : noServer);
  const headers = { "content-type": "text/plain; charset=utf-8" };
  return { head: { status, headers, isExcuse: true }, body: Readable.from([Buffer.from(`${message}\n`)]) };
}
