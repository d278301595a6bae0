import { describe, expect, it } from "vitest";
import { LruCache } from "#domain/lru-cache";

describe("the cache of this isolate", () => {
  it("evicts the least recently used value when it is full", () => {
    const cache = new LruCache<{ weight: number }>(10);
    cache.set("a", { weight: 4 });
    cache.set("b", { weight: 4 });
    cache.get("a");

    cache.set("c", { weight: 4 });

    expect(["a", "b", "c"].map((key) => cache.get(key) !== undefined)).toEqual([true, false, true]);
  });

  it("counts a key once, and stores nothing larger than itself", () => {
    const cache = new LruCache<{ weight: number }>(10);
    for (let round = 0; round < 5; round++) cache.set("a", { weight: 4 });
    cache.set("b", { weight: 6 });
    expect(cache.get("a")).toBeDefined();

    cache.set("giant", { weight: 11 });

    expect(cache.get("giant")).toBeUndefined();
  });
});
