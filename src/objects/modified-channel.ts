import { contentSizeHeader, type ModifiedAnswer, type ModifiedOrder } from "#lib/contract/index";
import { AgentChannel } from "./agent-channel.ts";

/** Comparing large disks takes seconds, and orders of one session wait for each other. */
const answerWithinMs = 120_000;
const maxOrders = 8;

/**
 * The channel to the agent that has the session's disk, and the orders that wait for its answers. The agent sends an
 * answer as the body of its own request, which is piped to the waiting one: nothing is stored here. Orders are only in
 * memory, because none outlives its client's connection.
 */
export class ModifiedChannel extends AgentChannel {
  readonly #orders = new Map<string, PromiseWithResolvers<Response>>();

  constructor(ctx: DurableObjectState) {
    super(ctx, "modified");
  }

  /** `/modified`: the agent's socket; `/modified/answers/ID`: its answer; `/modified/orders`: an order of the domain. */
  async serve(request: Request, { isAttempt }: { isAttempt: boolean }): Promise<Response> {
    const [, , verb, id = ""] = new URL(request.url).pathname.split("/");
    if (verb === "orders") return await this.#ask(await request.json<Omit<ModifiedOrder, "request">>());
    if (!isAttempt) return new Response("This testdrive belongs to another agent.", { status: 410 });
    return verb === "answers" ? await this.#answer(id, request) : this.accept();
  }

  /** Opens a new channel. Orders that were sent on the old one are never answered. */
  override accept(): Response {
    this.giveUp();
    return super.accept();
  }

  /** Answers every waiting request with an error, because the agent is unreachable. */
  giveUp(): void {
    for (const { resolve } of this.#orders.values()) resolve(gone());
  }

  async #ask(order: Omit<ModifiedOrder, "request">): Promise<Response> {
    if (this.#orders.size >= maxOrders) return refused("unreadable", "This session has too many requests in progress.");
    const request = crypto.randomUUID();
    const answered = Promise.withResolvers<Response>();
    this.#orders.set(request, answered);
    const late = setTimeout(
      () => answered.resolve(refused("unreadable", "The session's host has not answered in time.")),
      answerWithinMs,
    );
    try {
      if (!this.send({ ...order, request } satisfies ModifiedOrder)) return gone();
      return await answered.promise;
    } finally {
      clearTimeout(late);
      this.#orders.delete(request);
    }
  }

  /** Settles when the client has the answer, or has left. */
  async #answer(id: string, request: Request): Promise<Response> {
    const asked = this.#orders.get(id);
    this.#orders.delete(id);
    if (!asked || !request.body) return new Response("No request is waiting for this answer.", { status: 410 });
    const { readable, writable } = new IdentityTransformStream();
    asked.resolve(new Response(readable, { headers: shown(request.headers) }));
    const isTaken = await request.body.pipeTo(writable).then(
      () => true,
      () => false,
    );
    return isTaken
      ? new Response(null, { status: 204 })
      : new Response("No request is waiting for this answer.", { status: 410 });
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

const gone = () => refused("gone", "The disk of this session is no longer stored, or its host cannot be reached.");
