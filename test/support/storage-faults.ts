import { AsyncLocalStorage } from "node:async_hooks";
import { env } from "cloudflare:workers";
import { vi } from "vitest";

const spared = new AsyncLocalStorage<true>();

/** Lets a test read storage while it is unavailable to the service. */
export const unharmed = <T>(work: () => Promise<T>): Promise<T> => spared.run(true, work);

/**
 * Makes a storage call, fails without making it, or fails after making it. Its name is like "D1 query", "R2 put" or
 * "object claim". D1 calls come with the arguments of workerd's method.
 */
export type Fate = (name: string, call: () => Promise<unknown>, args?: unknown[]) => Promise<unknown>;

/** Passes every call of D1, R2 and Durable Objects through `fate` until `end`, from the Worker and from objects. */
function storageWith(fate: Fate): { end: () => void } {
  const undo = [...databaseMethods(), ...bucketMethods()].map(([name, holder, key]) =>
    replace(holder, key, (original, self, args) => fate(name, async () => Reflect.apply(original, self, args), args)),
  );
  undo.push(
    replace(Object.getPrototypeOf(env.BUILDS), "getByName", (original, self, args) =>
      watched(Reflect.apply(original, self, args), fate),
    ),
  );
  const quiet = vi.spyOn(console, "error").mockImplementation(() => {});
  return {
    end() {
      for (const one of undo) one();
      quiet.mockRestore();
    },
  };
}

/** Does some work while a part of the storage answers only with errors. */
export async function whileAway(isAway: (name: string) => boolean, work: () => Promise<void>): Promise<void> {
  await withFate(async (name, call) => (isAway(name) ? away(name) : await call()), work);
}

/** Does some work while a part of the storage does not answer. It answers after the work is done. */
export async function whileHanging(hangs: (name: string) => boolean, work: () => Promise<void>): Promise<void> {
  const goesOn = Promise.withResolvers<void>();
  const fate: Fate = async (name, call) => {
    if (hangs(name)) await goesOn.promise;
    return await call();
  };
  await withFate(fate, () => work().finally(goesOn.resolve));
}

/** Throws the same errors as D1, R2 and objects. */
export function away(name: string): never {
  throw new Error(`${name}: internal error, please try again (10001)`);
}

/** Does some work whose first `R2 put` resolves `reached`, and then waits for `goOn`. */
export async function whilePutWaits(
  reached: PromiseWithResolvers<void>,
  goOn: PromiseWithResolvers<void>,
  work: () => Promise<void>,
): Promise<void> {
  let isFirst = true;
  const fate: Fate = async (name, call) => {
    if (name === "R2 put" && isFirst) {
      isFirst = false;
      reached.resolve();
      await goOn.promise;
    }
    return await call();
  };
  await withFate(fate, work);
}

/** Does some work with this outcome for each storage call. */
export async function withFate(fate: Fate, work: () => Promise<void>): Promise<void> {
  const faults = storageWith(fate);
  try {
    await work();
  } finally {
    faults.end();
  }
}

export const isD1 = (name: string): boolean => name.startsWith("D1 ");
export const isR2 = (name: string): boolean => name.startsWith("R2 ");

type Method = [name: string, holder: object, key: string];

function databaseMethods(): Method[] {
  const session = Reflect.get(env.DB.prepare("SELECT 1"), "dbSession");
  const methods = { _sendOrThrow: "D1 batch", _queryOrThrow: "D1 query" };
  return Object.entries(methods).map(([key, name]) => [name, ownerOf(session, key), key]);
}

function bucketMethods(): Method[] {
  const upload = env.BLOBS.resumeMultipartUpload("none", "none");
  const ofBucket = ["get", "head", "put", "delete", "list", "createMultipartUpload"];
  const ofUpload = ["uploadPart", "complete", "abort"];
  return [
    ...ofBucket.map((key): Method => [`R2 ${key}`, ownerOf(env.BLOBS, key), key]),
    ...ofUpload.map((key): Method => [`R2 ${key}`, ownerOf(upload, key), key]),
  ];
}

function ownerOf(object: object, key: string): object {
  for (let at: object | null = object; at; at = Object.getPrototypeOf(at)) if (Object.hasOwn(at, key)) return at;
  throw new Error(`${key} is nowhere: has workerd changed?`);
}

type Around = (original: Function, self: unknown, args: unknown[]) => unknown;

function replace(holder: object, key: string, around: Around): () => void {
  const original = Reflect.get(holder, key);
  if (typeof original !== "function") throw new Error(`${key} is not a method`);
  Reflect.set(holder, key, function (this: unknown, ...args: unknown[]) {
    return spared.getStore() ? Reflect.apply(original, this, args) : around(original, this, args);
  });
  return () => void Reflect.set(holder, key, original);
}

const watched = (stub: object, fate: Fate): object =>
  new Proxy(stub, {
    get: (object, key) =>
      typeof key === "symbol" || key === "then"
        ? Reflect.get(object, key)
        : (...args: unknown[]) =>
            fate(`object ${key}`, async () => Reflect.apply(Reflect.get(object, key), object, args)),
  });
