import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { Refusal } from "#domain/refusal";
import { chunkBytes, inTime } from "#lib/repodata/streams";

/** The default for a deployment whose wrangler.toml does not have the variable yet. */
const usualSeconds = 30;

/**
 * Within this time, `chunkBytes` of a body must arrive. A slow connection can do that, but a few bytes now and then do
 * not keep a connection open.
 */
export const chunkMsOf = (env: Pick<Env, "BODY_SECONDS">): number => 1000 * (Number(env.BODY_SECONDS) || usualSeconds);

/** How much of a refused body is read, so that a client that sends everything first can read the answer. */
const maxUnreadBytes = 2 ** 20;

/**
 * The body did not arrive, because the client is too slow or has disconnected. Failures that result from this are not
 * the service's fault.
 */
export class BodyFault extends Error {
  override readonly name = "BodyFault";
  readonly status: 400 | 408;
  constructor(why: "slow" | "gone") {
    super(why === "slow" ? "The request's body arrives too slowly." : "The request ended before its body.");
    this.status = why === "slow" ? 408 : 400;
  }
}

/** A request's body in large chunks, each with a deadline. By default the runtime returns a few kilobytes per read. */
export class RequestBody {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #source: ReadableStream<Uint8Array>;
  readonly #chunkMs: number;
  #reader: ReadableStreamBYOBReader | undefined;
  #fault: BodyFault | undefined;
  #isOver = false;
  #reading: Promise<Uint8Array | undefined> | undefined;

  constructor(source: ReadableStream<Uint8Array>, chunkMs: number) {
    this.#source = source;
    this.#chunkMs = chunkMs;
    this.stream = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const chunk = await this.#next();
          if (chunk) controller.enqueue(chunk);
          if (this.#isOver) controller.close();
        },
        // The reader needs no more. `discard` reads the rest.
      },
      { highWaterMark: 0 },
    );
  }

  /** The reason why the body did not arrive. Undefined if it did. */
  get fault(): BodyFault | undefined {
    return this.#fault;
  }

  get isBegun(): boolean {
    return this.#reader !== undefined;
  }

  /** Reads what the reader has left, at most `maxBytes`, unless the body is still being read. */
  async discard(maxBytes: number): Promise<void> {
    const isWithOther = this.#source.locked && !this.isBegun;
    if (this.#reading || isWithOther) return;
    for (let bytes = 0; bytes < maxBytes && !this.#isOver && !this.#fault;) {
      const chunk = await this.#next().catch(() => undefined); // a client that has disconnected needs no answer
      bytes += chunk?.byteLength ?? 0;
    }
  }

  async #next(): Promise<Uint8Array | undefined> {
    this.#reading = this.#chunk();
    try {
      return await this.#reading;
    } finally {
      this.#reading = undefined;
    }
  }

  async #chunk(): Promise<Uint8Array | undefined> {
    const reader = (this.#reader ??= this.#source.getReader({ mode: "byob" }));
    const reading = reader.readAtLeast(chunkBytes, new Uint8Array(chunkBytes));
    try {
      const { done, value } = await inTime(reading, this.#chunkMs, () => new BodyFault("slow"));
      this.#isOver = done;
      return value && value.byteLength > 0 ? value : undefined;
    } catch (error) {
      this.#fault = error instanceof BodyFault ? error : new BodyFault("gone");
      void reader.cancel(this.#fault).catch(() => {});
      throw this.#fault;
    }
  }
}

const bodies = new WeakMap<Context, { given: Request; body: RequestBody }>();

/**
 * Applies deadlines to every body. Once the answer is ready, reads the rest of the body, or only a part of it if the
 * answer is a refusal. Otherwise a client that sends the whole body before it reads the answer would find its
 * connection closed and lose the answer. A body that waits for `100 Continue` has not been sent yet, and reading it
 * would request it.
 */
export const requestBody = createMiddleware<{ Bindings: Env }>(async (c, next) => {
  const given = c.req.raw;
  if (given.body === null) return await next();
  const body = new RequestBody(given.body, chunkMsOf(c.env));
  bodies.set(c, { given, body });
  c.req.raw = withBody(given, body.stream);
  await next();
  const waits = /^\s*100-continue\s*$/i.test(given.headers.get("expect") ?? "");
  if (waits && !body.isBegun) return;
  const maxBytes = isOwed(c.res, given) ? (Number(c.env.MAX_UPLOAD_MB) + 1) * 2 ** 20 : maxUnreadBytes;
  if (body.isBegun || Number(given.headers.get("content-length") ?? 0) <= maxBytes) await body.discard(maxBytes);
});

/** Refuses a compressed body, which would be stored as it is (RFC 9110, 8.4). */
export const refuseEncoded = createMiddleware(async (c, next) => {
  const encoding = c.req.header("content-encoding") ?? "identity";
  if (encoding !== "identity") {
    const message = `Send the body without Content-Encoding: ${encoding.slice(0, 80)}.`;
    throw new Refusal("unknown_error", { reason: "wrong_type", message });
  }
  await next();
});

/**
 * Whether the client must get the answer: it is a success, such as the stored answer to a repeated upload, or the
 * challenge, before which Python sends the whole body (compatibility.md, "Credentials").
 */
const isOwed = ({ ok, status }: Response, { headers }: Request): boolean =>
  ok || (status === 401 && !headers.has("authorization"));

/** Reads the rest of a body, for a client that must get the answer. */
export const readRest = async (c: Context, maxBytes: number): Promise<void> => bodies.get(c)?.body.discard(maxBytes);

/**
 * The body of a GET has no meaning (RFC 9110, 9.3.1). If it could contain parameters, a token would be checked against
 * other parameters.
 */
function withBody(request: Request, body: ReadableStream<Uint8Array>): Request {
  const { method } = request;
  if (method === "GET" || method === "HEAD") return Object.defineProperty(request, "body", { value: null });
  return new Request(request, { method, body });
}

/**
 * The request as it arrived, for a call that forwards its body as a stream and ends it by its own rules. If the body
 * was already read for an Idempotency-Key, this is the request that was created to read it again.
 */
export function untimed(c: Context): Request {
  const known = bodies.get(c);
  return known && !known.body.isBegun ? known.given : c.req.raw;
}

/** The fault of the request's body that caused the error, or the error itself if there is none. */
export const causeOf = (c: Context, error: unknown): unknown => bodies.get(c)?.body.fault ?? error;
