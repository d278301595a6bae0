import { appendFileSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openPreparedRoots } from "../../src/prepared/store.ts";
import { KeyedLock } from "../../src/mutex.ts";
import { temporaryDir } from "../support/agent-place.ts";

const [one, two, three] = ["1", "2", "3"].map((digit) => digit.repeat(64)) as [string, string, string];
const roomy = { maxBytes: 1e6, maxAgeMs: 60_000 };

async function place(limits = roomy) {
  const dir = await temporaryDir();
  const store = join(dir.path, "roots");
  const roots = await openPreparedRoots(store, limits);
  let count = 0;
  const keep = async (key: string, text: string) => {
    const file = join(dir.path, `made-${++count}`);
    writeFileSync(file, text);
    await roots.put(key, file);
  };
  /** The content stored under the key; undefined if there is none. */
  const taken = async (key: string) => {
    const into = join(dir.path, `taken-${++count}`);
    return (await roots.take(key, into)) ? readFileSync(into, "utf8") : undefined;
  };
  const files = () => readdirSync(store).map((name) => join(store, name));
  return { roots, store, keep, taken, files, [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose]() };
}

describe("prepared roots", () => {
  it("are found by their key, also by the next agent", async () => {
    await using here = await place();
    await here.keep(one, "first");
    await here.keep(one, "first");
    await here.keep(two, "second");

    expect([await here.taken(one), await here.taken(two), await here.taken(three)]).toEqual([
      "first",
      "second",
      undefined,
    ]);
    const next = await openPreparedRoots(here.store, roomy);
    expect(await next.take(one, join(here.store, "taken"))).toBe(true);
  });

  it("are deleted and not used if they are damaged", async () => {
    await using here = await place();
    await here.keep(one, "first");
    for (const file of here.files()) appendFileSync(file, "!");

    expect(await here.taken(one)).toBeUndefined();
    expect(here.files()).toEqual([]);
  });

  it("are all deleted if their disk space is needed", async () => {
    await using here = await place();
    await here.keep(one, "first");
    await here.keep(two, "second");
    await here.roots.free();
    expect(here.files()).toEqual([]);
  });

  it("are deleted on request", async () => {
    await using here = await place();
    await here.keep(one, "first");
    await here.roots.forget(one);
    expect(await here.taken(one)).toBeUndefined();
  });

  it("are evicted if they are too many, least recently used first", async () => {
    await using here = await place({ ...roomy, maxBytes: 10 });
    await here.keep(one, "1234");
    await here.keep(two, "5678");
    const longAgo = new Date(Date.now() - 30_000);
    for (const file of here.files()) utimesSync(file, longAgo, longAgo);
    await here.taken(one);
    await here.keep(three, "90ab");

    expect([await here.taken(one), await here.taken(two), await here.taken(three)]).toEqual([
      "1234",
      undefined,
      "90ab",
    ]);
  });

  it("are deleted if they have not been used for long", async () => {
    await using here = await place();
    await here.keep(one, "first");
    const longAgo = new Date(Date.now() - 61_000);
    for (const file of here.files()) utimesSync(file, longAgo, longAgo);
    expect(await here.taken(one)).toBeUndefined();
  });
});

describe("the keyed lock", () => {
  const never = new AbortController().signal;

  it("are taken one after the other per name", async () => {
    const locks = new KeyedLock();
    const end = await locks.acquire("a", never);
    const told: string[] = [];
    const second = locks.acquire("a", never).then((endSecond) => {
      told.push("second");
      return endSecond();
    });
    (await locks.acquire("b", never))();
    expect(told).toEqual([]);
    end();
    end();
    await second;
    expect(told).toEqual(["second"]);
    (await locks.acquire("a", never))();
  });

  it("pass on when a waiting one is stopped", async () => {
    const locks = new KeyedLock();
    const end = await locks.acquire("a", never);
    const stop = new AbortController();
    const stopped = locks.acquire("a", stop.signal);
    const last = locks.acquire("a", never);
    stop.abort(new Error("stopped"));
    await expect(stopped).rejects.toThrow("stopped");
    end();
    (await last)();
  });
});
