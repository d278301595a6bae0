import {
  GuestAnswer,
  GuestRequest,
  guestHead,
  guestHeadHeader,
  isBodyless,
  maxGuestAnswerBytes,
  maxGuestRequestBytes,
  maxVisitMs,
  readGuestHead,
  type TestdriveOrder,
} from "#lib/contract/index";
import { newToken } from "#domain/secrets";
import { joinSockets } from "./joined-sockets.ts";

const maxVisits = 32;
/**
 * The maximum number of visits with a WebSocket. Nothing slows down a writer, so the object may buffer messages for a
 * slow reader.
 */
const maxSockets = 5;
const maxSocketBytes = 16 * 1024 * 1024;
/** Longer than the agent's own time limit, so that its message arrives. */
const answerWithinMs = 40_000;

interface Visit {
  isHead: boolean;
  isSocket: boolean;
  /** The request's body. Null if the agent has taken it, or if there is none. */
  body: ReadableStream<Uint8Array> | null;
  /** Whether an answer is in progress. */
  isAnswered: boolean;
  answered: PromiseWithResolvers<Response>;
  /** Aborted when the session ends or the visit's time limit is reached. */
  over: AbortController;
}

/**
 * Visitors of the guest's web server. The agent gets each request over its control socket, fetches the body, and sends
 * the guest's answer as the body of its own request. Both bodies are piped, so that a slow reader slows down the
 * writer. Everything is in memory: a visit ends with its object, just as it ends with the visitor's connection.
 */
export class GuestWeb {
  readonly #visits = new Map<string, Visit>();
  readonly #onChange: () => Promise<unknown>;

  /** `onChange` is called when a visitor comes or leaves. */
  constructor(onChange: () => Promise<unknown>) {
    this.#onChange = onChange;
  }

  get visitors(): number {
    return this.#visits.size;
  }

  /** Serves a visitor's request, whose head is in `guestHeadHeader`. `order` returns whether an agent is connected. */
  async visit(request: Request, order: (order: TestdriveOrder) => boolean): Promise<Response> {
    const asked = readGuestHead(GuestRequest, request.headers.get(guestHeadHeader));
    if (!asked) return refused(400, "This request cannot be sent to a testdrive.");
    const sockets = this.#visits.values().filter(({ isSocket }) => isSocket);
    const isFull = this.#visits.size >= maxVisits || (asked.isSocket && [...sockets].length >= maxSockets);
    if (isFull) return refused(503, "This machine has too many visitors at the moment.");
    const visit = newToken();
    const { answered } = this.#open(visit, asked, request.body);
    await this.#onChange();
    if (order({ type: "visit", visit, request: asked })) return await answered.promise;
    await this.#close(visit);
    return refused(503, "The machine's host cannot be reached at the moment.");
  }

  /** Serves the agent: it fetches the body of a visitor's request, or sends the guest's answer or WebSocket. */
  ofAgent(visit: string, request: Request): Response | Promise<Response> {
    if (request.headers.has("upgrade")) return this.#join(visit, request);
    return request.method === "GET" ? this.#body(visit) : this.#answer(visit, request);
  }

  #body(visit: string): Response {
    const found = this.#visits.get(visit);
    if (!found?.body) return left();
    const tooMuch = refused(413, `A request to a testdrive may have at most ${maxGuestRequestBytes} bytes.`);
    const size = atMost(maxGuestRequestBytes, () => this.#excuse(visit, tooMuch));
    const body = found.body.pipeThrough(size, { signal: found.over.signal });
    found.body = null;
    return new Response(body);
  }

  /** Settles when the visitor has the answer, or has left. */
  async #answer(visit: string, request: Request): Promise<Response> {
    const found = this.#visits.get(visit);
    const head = readGuestHead(GuestAnswer, request.headers.get(guestHeadHeader));
    if (!found || found.isAnswered) return left();
    if (!head) return refused(400, "This is not a valid answer head.");
    found.isAnswered = true;
    try {
      await passOn(head, request.body, found);
      return new Response(null, { status: 204 });
    } catch {
      return left();
    } finally {
      await this.#close(visit);
    }
  }

  /** The guest has opened a WebSocket, so this opens the visitor's. It lasts as long as the session. */
  #join(id: string, request: Request): Response {
    const found = this.#visits.get(id);
    if (!found?.isSocket || found.isAnswered) return left();
    found.isAnswered = true;
    const [ofAgent, ofVisitor] = [new WebSocketPair(), new WebSocketPair()];
    const { signal } = found.over;
    const joined = joinSockets(ofAgent[1], ofVisitor[1], { maxBytes: maxSocketBytes, signal });
    void joined.finally(() => this.#close(id));
    const protocol = request.headers.get("sec-websocket-protocol");
    const headers = protocol === null ? {} : { "Sec-WebSocket-Protocol": protocol };
    found.answered.resolve(new Response(null, { status: 101, webSocket: ofVisitor[0], headers }));
    return new Response(null, { status: 101, webSocket: ofAgent[0], headers });
  }

  closeAll(): void {
    for (const { answered, over } of this.#visits.values()) {
      answered.resolve(refused(410, "This testdrive has ended."));
      over.abort();
    }
    this.#visits.clear();
  }

  #open(id: string, { method, hasBody, isSocket }: GuestRequest, body: Visit["body"]): Visit {
    const isHead = method === "HEAD";
    const visit: Visit = {
      isHead,
      isSocket: isSocket ?? false,
      body: hasBody ? body : null,
      isAnswered: false,
      answered: Promise.withResolvers(),
      over: new AbortController(),
    };
    const silent = refused(504, "The machine's host has not answered in time.");
    const late = setTimeout(() => this.#excuse(id, silent), answerWithinMs);
    const tooLong = setTimeout(() => (isSocket && visit.isAnswered ? {} : visit.over.abort()), maxVisitMs);
    void visit.answered.promise.then(() => clearTimeout(late));
    visit.over.signal.addEventListener("abort", () => {
      clearTimeout(late);
      clearTimeout(tooLong);
    });
    this.#visits.set(id, visit);
    return visit;
  }

  /** Answers in place of the guest. A later answer from the agent is dropped. */
  #excuse(id: string, answer: Response): void {
    this.#visits.get(id)?.answered.resolve(answer);
    void this.#close(id);
  }

  async #close(id: string): Promise<void> {
    this.#visits.get(id)?.over.abort();
    if (this.#visits.delete(id)) await this.#onChange();
  }
}

/** Answers the visitor's route, with the head in a header, and waits until the body has been sent. */
async function passOn(
  head: GuestAnswer,
  body: ReadableStream<Uint8Array> | null,
  { isHead, answered, over }: Visit,
): Promise<void> {
  const init = { headers: { [guestHeadHeader]: guestHead(head) } };
  if (body === null || isHead || isBodyless(head.status)) {
    return answered.resolve(new Response(null, init));
  }
  const { readable, writable } = joint(head);
  answered.resolve(new Response(readable, init));
  await body.pipeThrough(atMost(maxGuestAnswerBytes)).pipeTo(writable, { signal: over.signal });
}

/** A stream with the length that the guest announced, if it did. */
function joint({ headers }: GuestAnswer): IdentityTransformStream {
  const length = headers["content-length"] ?? "";
  return /^\d{1,15}$/.test(length) ? new FixedLengthStream(Number(length)) : new IdentityTransformStream();
}

/** Passes a stream on, and fails if it is longer than the limit. */
function atMost(maxBytes: number, onMore = () => {}): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes <= maxBytes) return controller.enqueue(chunk);
      onMore();
      controller.error(new Error(`longer than ${maxBytes} bytes`));
    },
  });
}

const left = () => refused(410, "This visitor has left.");
const refused = (status: number, sentence: string) => new Response(`${sentence}\n`, { status });
