import { expect, it } from "vitest";
import { lookForAll } from "../../../src/web/client/looking.ts";

/** Fetches whose ends are given. Records what was fetched, how long each pause was, and whether the page was lost. */
async function looks(wanted: string[], ...ends: (boolean | Error)[]) {
  const seen: { ids: string; lost: boolean; pause: number }[] = [];
  let ids = "";
  let lost = false;
  await lookForAll(new Set(wanted), {
    fetch: async (given) => {
      ids = given.join(" ");
      const end = ends.shift() ?? expect.fail("one fetch too many");
      if (end instanceof Error) throw end;
      return end;
    },
    onFetched: (isLost) => void (lost = isLost),
    sleep: async (pause) => void seen.push({ ids, lost, pause }),
  });
  return seen;
}

it("fetches again what could not be fetched, after longer and longer pauses", async () => {
  const failure = new Error("503");
  const seen = await looks(["status", "log"], failure, failure, failure, failure, failure, failure, true);
  expect(seen.map(({ lost }) => lost)).toEqual([true, true, true, true, true, true, false]);
  expect(seen.map(({ pause }) => pause)).toEqual([600, 1200, 2400, 4800, 9600, 10_000, 300]);
  expect(new Set(seen.map(({ ids }) => ids))).toEqual(new Set(["status log"]));
});

it("fetches again what another fetch has displaced, without a longer pause", async () => {
  expect(await looks(["status"], false, true)).toEqual([
    { ids: "status", lost: false, pause: 300 },
    { ids: "status", lost: false, pause: 300 },
  ]);
});
