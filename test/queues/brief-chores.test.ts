/** The chores that share one message, and so one invocation. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { ChoreMessage, chores } from "#queues/chores";
import {
  buildsPrefix,
  contentsPrefix,
  inputsPrefix,
  packagesPrefix,
  solvPrefix,
  tailsPrefix,
  uploadsPrefix,
} from "#storage/blobs";
import { counting } from "../support/counting.ts";
import { messagesOfSweep, takeChores } from "../support/sweep.ts";

const hourMs = 60 * 60_000;
const prefixes = [buildsPrefix, inputsPrefix, packagesPrefix, solvPrefix, tailsPrefix, uploadsPrefix, contentsPrefix];

/** Keys of each kind that are in no row. */
const addKeys = (count: number) =>
  Promise.all(
    prefixes.flatMap((prefix) =>
      Array.from({ length: count }, (_, nth) => env.BLOBS.put(`${prefix}${String(nth).padStart(64, "0")}/1`, "")),
    ),
  );

async function callsOf(chore: string): Promise<number> {
  const { BLOBS, DB } = env;
  const watched = counting({ BLOBS, DB });
  await takeChores([{ body: { chore, at: Date.now() + 2 * hourMs } }], watched.env);
  return watched.calls.length;
}

async function done(): Promise<unknown[]> {
  const { results } = await env.DB.prepare("SELECT chore FROM chore_runs").all();
  return results.map(({ chore }) => chore);
}

it("requests each chore once, and those that make few calls in one message", async () => {
  const requested = (await messagesOfSweep()).map(({ body }) => ChoreMessage.parse(body));
  const each = requested.map(({ chore, also }) => [chore, ...also]);
  expect(each.flat().toSorted()).toEqual(chores.toSorted());
  const [brief = expect.fail("none"), ...more] = each.filter(({ length }) => length > 1);
  expect(more).toEqual([]);

  await addKeys(150);
  for (const chore of brief) expect(await callsOf(chore), chore).toBeLessThan(30);
});

it("does all chores of a message, and the one that a message of the release before requests", async () => {
  await env.DB.prepare("DELETE FROM chore_runs").run();
  await takeChores([{ body: { chore: "measureStorage", at: 1 } }]);
  expect(await done()).toEqual(["measureStorage"]);
  await takeChores([{ body: { chore: "forgetSessions", also: ["removeStrayTails"], at: 1 } }]);
  expect(await done()).toEqual(expect.arrayContaining(["forgetSessions", "measureStorage", "removeStrayTails"]));
});
