import { cross, currentActor, type Actor } from "./actors.ts";
import { clock } from "./clock.ts";
import type { Service } from "./service.ts";
import { AnswerWithSocket } from "./streams.ts";
import { witness } from "../witness.ts";
import { UnexpectedAnswer, type SocketEnd } from "./sockets.ts";

/** Calls whose answers may be lost several times in a row. */
const fragile = { end: /\/(?:finish|fail|release)$/, claim: /\/claim$/ };
type Fragile = keyof typeof fragile;

/** The network between agents and service. */
export class Network {
  readonly #service: Service;
  /** Actors whose connection is cut. Their calls fail after a while. */
  readonly cut = new Set<Actor>();
  /** How many of the next answers are lost: answers to reports of a build's end, and to claims. */
  lostAnswers: Record<Fragile, number> = { end: 0, claim: 0 };
  /** When the answer to a claim was last lost. */
  claimLostAt = -Infinity;
  /** The times at which the service could not answer a claim whose earlier answer was lost. */
  claimFailedAgainAt = -Infinity;
  /** The nonces of claims whose answers were lost. */
  readonly #lostClaims = new Set<string>();
  /** Agents that have pulled messages, and have not claimed anything since. */
  readonly #unclaimed = new Set<Actor>();

  constructor(service: Service) {
    this.#service = service;
  }

  /** The `fetch` of agents. It fails as Node's does. */
  async fetch(address: string, init: RequestInit = {}): Promise<Response> {
    return await this.#call(new Request(address, withLength(init)), init.signal ?? undefined);
  }

  async dial(address: string, headers: Record<string, string>) {
    const url = address.replace(/^ws/, "http");
    const request = new Request(url, { headers: { ...headers, upgrade: "websocket" } });
    const answer = (await this.#call(request)) as Response & { webSocket?: SocketEnd };
    const { webSocket: end } = answer;
    if (!end) throw new UnexpectedAnswer(answer.status);
    const me = currentActor();
    end.isCut = () => me !== undefined && this.cut.has(me);
    return { end, headers: Object.fromEntries(answer.headers) };
  }

  /** Records which messages an agent has pulled, and whether it has claimed work since. */
  #note(agent: Actor, path: string, answer: Response): void {
    if (path.endsWith("/claim")) this.#unclaimed.delete(agent);
    if (!path.endsWith("/messages/pull") || !(answer instanceof AnswerWithSocket)) return;
    const { result } = JSON.parse(String(answer.given)) as { result: { messages: unknown[] } | null };
    if (result && result.messages.length > 0) this.#unclaimed.add(agent);
  }

  /** If an agent dies between its acknowledgement and its claim, the message is lost. */
  #noteAck(agent: Actor, body: string): void {
    const { acks } = JSON.parse(body) as { acks: unknown[] };
    if (acks.length > 0 && this.#unclaimed.has(agent))
      witness.faults.push(`${agent.name} acknowledges a message before its claim`);
  }

  /** Records claims whose answers are lost, and when the service fails to answer a repetition. */
  #noteClaim(nonce: string, given: Response, isLost: boolean): void {
    if (isLost) this.#lostClaims.add(nonce);
    if (given.status >= 500 && this.#lostClaims.has(nonce)) this.claimFailedAgainAt = clock.now;
  }

  #loses({ pathname }: URL): boolean {
    const kinds = Object.keys(fragile) as Fragile[];
    const kind = kinds.find((each) => this.lostAnswers[each] > 0 && fragile[each].test(pathname));
    if (kind) this.lostAnswers[kind] -= 1;
    if (kind === "claim") this.claimLostAt = clock.now;
    return kind !== undefined;
  }

  async #call(request: Request, signal?: AbortSignal): Promise<Response> {
    const me = currentActor();
    const isCut = () => me !== undefined && this.cut.has(me);
    const url = new URL(request.url);
    if (me && url.pathname.endsWith("/messages/ack")) this.#noteAck(me, await request.clone().text());
    const isClaim = fragile.claim.test(url.pathname);
    const nonce = isClaim ? ((await request.clone().json()) as { nonce: string }).nonce : undefined;
    const answer = cross(`call ${url.pathname.replaceAll(/\d+/g, "N")}`, async () => {
      if (isCut()) throw new Error("simulated: unreachable");
      const given = await this.#service.answer(request);
      const isLost = isCut() || this.#loses(url);
      if (nonce !== undefined) this.#noteClaim(nonce, given, isLost);
      if (isLost) throw new Error("simulated: the answer was lost");
      if (me) this.#note(me, url.pathname, given);
      return given;
    }).catch((cause: unknown) => {
      throw new TypeError("fetch failed", { cause });
    });
    return await unlessAborted(answer, signal);
  }
}

/** The answer, unless the signal comes first. */
export async function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (!signal) return await answer;
  signal.throwIfAborted();
  return await new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function withLength({ method, headers, body }: RequestInit): RequestInit {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const length = bytes instanceof Uint8Array ? { "content-length": String(bytes.byteLength) } : {};
  return {
    ...(method !== undefined && { method }),
    headers: { ...Object.fromEntries(new Headers(headers ?? {})), ...length },
    ...(bytes !== undefined && bytes !== null && { body: bytes }),
  } as RequestInit;
}
