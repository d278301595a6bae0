import { contentSizeHeader, type ModifiedAnswer, type ModifiedOrder } from "#contract/index";

const tag = "modified";
/** A comparison of large disks takes seconds; orders of one session wait for each other. */
const answerWithinMs = 120_000;
const mostOrders = 8;

/**
 * The line to the agent that has the session's disk, and the orders that wait for an answer of it. The agent brings an answer
 * as the body of a request of its own; it is joined to the asking one stream to stream, so that nothing is held here. Orders
 * are in memory: none outlives its asker's connection.
 */
export class ModifiedLine {
  readonly #ctx: DurableObjectState;
  readonly #orders = new Map<string, PromiseWithResolvers<Response>>();

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
  }

  /** `/modified`: the agent's socket; `/modified/answers/ID`: its answer; `/modified/orders`: an order of the domain. */
  async serve(request: Request, { isAttempt }: { isAttempt: boolean }): Promise<Response> {
    const [, , verb, id = ""] = new URL(request.url).pathname.split("/");
    if (verb === "orders") return await this.#ask(await request.json<Omit<ModifiedOrder, "request">>());
    if (!isAttempt) return new Response("This testdrive is another agent's.", { status: 410 });
    return verb === "answers" ? await this.#answer(id, request) : this.#accept();
  }

  isLine(socket: WebSocket): boolean {
    return this.#ctx.getTags(socket)[0] === tag;
  }

  /** A new socket takes the place of the old, whose orders nobody answers any more. */
  #accept(): Response {
    for (const old of this.#sockets) old.close(1000, "Another connection took its place.");
    this.giveUp();
    const { 0: theirs, 1: ours } = new WebSocketPair();
    this.#ctx.acceptWebSocket(ours, [tag]);
    return new Response(null, { status: 101, webSocket: theirs });
  }

  /** The agent is out of reach: who waits is told so. */
  giveUp(): void {
    for (const { resolve } of this.#orders.values()) resolve(gone());
  }

  async #ask(order: Omit<ModifiedOrder, "request">): Promise<Response> {
    const [line] = this.#sockets;
    if (!line) return gone();
    if (this.#orders.size >= mostOrders) return refused("unreadable", "Too much is asked of this session at once.");
    const request = crypto.randomUUID();
    const answered = Promise.withResolvers<Response>();
    this.#orders.set(request, answered);
    const late = setTimeout(
      () => answered.resolve(refused("unreadable", "The session's host has not answered in time.")),
      answerWithinMs,
    );
    line.send(JSON.stringify({ ...order, request } satisfies ModifiedOrder));
    try {
      return await answered.promise;
    } finally {
      clearTimeout(late);
      this.#orders.delete(request);
    }
  }

  /** Settles when whoever asked has it, or has left. */
  async #answer(id: string, request: Request): Promise<Response> {
    const asked = this.#orders.get(id);
    this.#orders.delete(id);
    if (!asked || !request.body) return new Response("Nobody waits for this.", { status: 410 });
    const { readable, writable } = new IdentityTransformStream();
    asked.resolve(new Response(readable, { headers: shown(request.headers) }));
    const isTaken = await request.body.pipeTo(writable).then(
      () => true,
      () => false,
    );
    return isTaken ? new Response(null, { status: 204 }) : new Response("Nobody waits for this.", { status: 410 });
  }

  get #sockets(): WebSocket[] {
    return this.#ctx.getWebSockets(tag).filter(({ readyState }) => readyState === WebSocket.OPEN);
  }
}

const shown = (headers: Headers) =>
  new Headers(
    ["content-type", contentSizeHeader].flatMap((name): [string, string][] => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );

type Why = Extract<ModifiedAnswer, { kind: "refused" }>["why"];

const refused = (why: Why, message: string): Response =>
  Response.json({ kind: "refused", why, message } satisfies ModifiedAnswer);

const gone = () => refused("gone", "The disk of this session is not kept any more, or its host is out of reach.");
