import { expect, it } from "vitest";
import { Turns } from "../../../src/web/client/turns.ts";

/** Requests that end when the test says so, and the names of those that began and were not aborted. */
function requests() {
  const turns = new Turns();
  const [begun, ends]: [string[], Map<string, (error?: Error) => void>] = [[], new Map()];
  const take = (kind: "read" | "refresh" | "send", name: string) =>
    turns.take(kind, async (signal) => {
      begun.push(name);
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("aborted")));
        ends.set(name, (error) => (error ? reject(error) : resolve()));
      });
    });
  return { take, begun, end: (name: string, error?: Error) => ends.get(name)?.(error) };
}

const pause = () => new Promise((resolve) => setTimeout(resolve));

it("lets a newer request abort one that only reads", async () => {
  const { take, begun, end } = requests();
  const first = take("read", "first");
  const second = take("read", "second");
  expect(await first).toBe(false);
  end("second");
  expect([await second, begun]).toEqual([true, ["first", "second"]]);
});

it("lets other requests wait for a form that is being sent", async () => {
  const { take, begun, end } = requests();
  const form = take("send", "form");
  const [search, newer, other] = [take("read", "search"), take("read", "newer"), take("send", "other")];
  expect(await take("refresh", "refresh")).toBe(false);
  await pause();
  expect(begun).toEqual(["form"]);
  end("form");
  expect(await form).toBe(true);
  expect([await search, await newer]).toEqual([false, false]);
  end("other");
  expect([await other, begun]).toEqual([true, ["form", "other"]]);
});

it("drops what waited for a form that failed", async () => {
  const { take, begun, end } = requests();
  const form = take("send", "form");
  const search = take("read", "search");
  end("form", new Error("no network"));
  await expect(form).rejects.toThrow("no network");
  expect([await search, begun]).toEqual([false, ["form"]]);
});
