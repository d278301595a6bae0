/** Replaces this process's time and random numbers by virtual ones. Must be imported first. */
import { createCipheriv, createDecipheriv, createHash, KeyObject, type webcrypto } from "node:crypto";
import { Chance } from "../../../scripts/chance.ts";
import { currentActor } from "./actors.ts";
import { clock } from "./clock.ts";

let chance = new Chance(0);

export const seedChance = (seed: number): void => void (chance = new Chance(seed));

export const randomBytes = (size: number): Buffer =>
  Buffer.from(Array.from({ length: size }, () => chance.between(0, 255)));
export const randomInt = (below: number): number => chance.between(0, below - 1);
export const randomUUID = (): string => {
  const hex = randomBytes(16).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
};

/** A timer ends with the actor that has set it. */
class Timer {
  readonly cancel: () => void;
  constructor(ms: number, work: () => void) {
    const me = currentActor();
    this.cancel = clock.after(Number.isFinite(ms) ? ms : 0, () => me?.isDead || work());
  }
  ref = () => this;
  unref = () => this;
  hasRef = () => true;
  [Symbol.dispose] = () => this.cancel();
}

class Interval extends Timer {
  #isOver = false;
  #next: Timer | undefined;
  constructor(ms: number, work: () => void) {
    super(ms, () => this.#tick(ms, work));
  }
  #tick(ms: number, work: () => void): void {
    if (this.#isOver) return;
    this.#next = new Timer(ms, () => this.#tick(ms, work));
    work();
  }
  end(): void {
    this.#isOver = true;
    this.cancel();
    this.#next?.cancel();
  }
}

const end = (timer?: unknown): void => {
  if (timer instanceof Interval) timer.end();
  else if (timer instanceof Timer) timer.cancel();
};

const RealDate = Date;
const VirtualDate = new Proxy(RealDate, {
  construct: (target, given: [], as) => Reflect.construct(target, given.length === 0 ? [clock.now] : given, as),
  get: (target, name) => (name === "now" ? () => Math.floor(clock.now) : Reflect.get(target, name)),
});

/** Waits, like `setTimeout` of node:timers/promises and `scheduler.wait`. */
export const wait = <T>(ms: number, value?: T, { signal }: { signal?: AbortSignal } = {}): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    const refuse = () => reject(new DOMException("The operation was aborted", "AbortError"));
    if (signal?.aborted) return refuse();
    const abort = () => (timer.cancel(), refuse());
    const timer = new Timer(ms, () => {
      signal?.removeEventListener("abort", abort);
      resolve(value);
    });
    signal?.addEventListener("abort", abort, { once: true });
  });

const isCrypto = (name: string) => ["sign", "verify", "importKey", "exportKey"].includes(name);
const realSubtle = crypto.subtle;
const subtle = new Proxy(realSubtle, {
  get(target, name: keyof SubtleCrypto) {
    if (name in onThisThread) return onThisThread[name];
    const method = Reflect.get(target, name) as (...given: unknown[]) => Promise<unknown>;
    return isCrypto(name) ? (...given: unknown[]) => clock.still(method.apply(target, given)) : method;
  },
});

type Bytes = ArrayBufferView | ArrayBuffer;
const bufferOf = (data: Bytes): Buffer =>
  ArrayBuffer.isView(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(data);
const gcm = "aes-256-gcm";
const tagBytes = 16;

async function digest(algorithm: string | { name: string }, data: Bytes): Promise<ArrayBuffer> {
  const name = typeof algorithm === "string" ? algorithm : algorithm.name;
  return Uint8Array.from(createHash(name.replace("-", "")).update(bufferOf(data)).digest()).buffer;
}

async function encrypt({ iv }: { iv: Uint8Array }, key: webcrypto.CryptoKey, data: Bytes): Promise<ArrayBuffer> {
  const cipher = createCipheriv(gcm, KeyObject.from(key), iv);
  const bytes = Buffer.concat([cipher.update(bufferOf(data)), cipher.final()]);
  return Uint8Array.from(Buffer.concat([bytes, cipher.getAuthTag()])).buffer;
}

async function decrypt({ iv }: { iv: Uint8Array }, key: webcrypto.CryptoKey, data: Bytes): Promise<ArrayBuffer> {
  const bytes = bufferOf(data);
  const decipher = createDecipheriv(gcm, KeyObject.from(key), iv).setAuthTag(bytes.subarray(-tagBytes));
  return Uint8Array.from(Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()])).buffer;
}

/** Calls that end without real time, because no other thread runs them. */
const onThisThread: Partial<Record<keyof SubtleCrypto, unknown>> = { digest, encrypt, decrypt };

const virtual = {
  Date: VirtualDate,
  setTimeout: (work: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) => new Timer(ms, () => work(...given)),
  setInterval: (work: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) =>
    new Interval(ms, () => work(...given)),
  clearTimeout: end,
  clearInterval: end,
  scheduler: { wait: (ms: number, options?: { signal?: AbortSignal }) => wait(ms, undefined, options) },
};
Object.assign(globalThis, virtual);
/** V8 answers later, in real time. */
WebAssembly.instantiate = (async (module: WebAssembly.Module, imports: WebAssembly.Imports) =>
  new WebAssembly.Instance(module, imports)) as typeof WebAssembly.instantiate;
Math.random = () => chance.between(0, 2 ** 32 - 1) / 2 ** 32;
performance.now = () => clock.now;
AbortSignal.timeout = (ms: number) => {
  const controller = new AbortController();
  void new Timer(ms, () => controller.abort(new DOMException("The operation timed out", "TimeoutError")));
  return controller.signal;
};
Object.defineProperties(crypto, {
  subtle: { value: subtle },
  randomUUID: { value: randomUUID },
  getRandomValues: {
    value: <T extends Uint8Array>(array: T): T => {
      array.set(randomBytes(array.byteLength));
      return array;
    },
  },
});
