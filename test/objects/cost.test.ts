import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import page from "../../docs/operations/cost.md?raw";
import { objectOfBuild } from "../support/builds.ts";
import { signedIn } from "../support/client.ts";
import { runningBuild } from "../support/running-build.ts";

/** Rows that a running build's object writes while `work` runs: key-value pairs, rows of its tables, moved alarms. */
async function rowsOf({ buildId }: Running, work: () => Promise<unknown>): Promise<number> {
  const object = await objectOfBuild(buildId);
  const spies = await runInDurableObject(object, (_, { storage }) => {
    const before = totalOf(storage);
    return { put: vi.spyOn(storage.kv, "put"), alarm: vi.spyOn(storage, "setAlarm"), before };
  });
  await work();
  return await runInDurableObject(object, (_, { storage }) => {
    return totalOf(storage) - spies.before + spies.put.mock.calls.length + spies.alarm.mock.calls.length;
  });
}

/** Rows of the tables that a build's agent fills. */
const totalOf = ({ sql }: DurableObjectStorage): number =>
  sql
    .exec<{ n: number }>(
      "SELECT (SELECT count(*) FROM log) + (SELECT count(*) FROM artifacts) + (SELECT count(*) FROM artifact_parts) AS n",
    )
    .one().n;

type Running = Awaited<ReturnType<typeof runningBuild>>;
let running: Running;
beforeAll(async () => {
  running = await runningBuild(await signedIn());
  await running.attempt.beats(); // the first one records in the database that the build is alive
});
afterEach(() => {
  vi.useRealTimers();
});

/** The number in the page's row of this name. */
const stated = (name: string) =>
  Number(new RegExp(`^\\| ${name} \\|(?:[^|]*\\|)*? ([\\d,.]+) \\|$`, "m").exec(page)?.[1]?.replaceAll(",", ""));

it("a heartbeat writes its state, and moves no alarm", async () => {
  expect(await rowsOf(running, () => running.attempt.beats())).toBe(stated("heartbeat"));
});

it("a chunk of the log writes two rows", async () => {
  expect(await rowsOf(running, () => running.attempt.writesLog(0, "a line\n"))).toBe(stated("chunk of the log"));
});

it("reports whether the log is read, so that the agent sends it rarely otherwise", async () => {
  const next = await running.attempt.writesLog(7, "another\n");
  expect(await next.json()).toEqual({ nextOffset: 15 });
  await (await objectOfBuild(running.buildId)).readLog({ from: 0, maxBytes: 100 });
  expect(await (await running.attempt.writesLog(15, "x\n")).json()).toEqual({ nextOffset: 17, watched: true });
});

it("a part of a file writes its row, and one of the index", async () => {
  const rows = await runInDurableObject(await objectOfBuild(running.buildId), (_, { storage }) => {
    const columns = "(attempt, name, number, etag, sha256, size)";
    return storage.sql.exec(`INSERT INTO artifact_parts ${columns} VALUES (9, 'image', 1, 'e', 's', 1)`).rowsWritten;
  });
  expect(rows).toBe(stated("part of 16 MiB"));
});

it("the page adds up: a build of ten minutes with 600 MB", () => {
  const [beats, chunks, parts] = [600 / 10, 600 / 5, Math.ceil(600e6 / 2 ** 24)];
  const rows = [stated("heartbeat"), stated("chunk of the log"), stated("part of 16 MiB")];
  expect(stated("requests of a build")).toBe(beats + chunks + parts);
  expect(stated("rows of a build")).toBe(beats * Number(rows[0]) + chunks * Number(rows[1]) + parts * Number(rows[2]));
});
