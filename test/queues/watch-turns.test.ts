/** How the sweep takes turns between the appliances whose updates it watches. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { findWatch, takeDueWatches } from "#storage/watches";
import { signedIn, type Client } from "../support/client.ts";
import { putConfiguration } from "../support/configurations.ts";
import { createBuild } from "../support/factories.ts";
import { copyRow } from "../support/many-rows.ts";
import { takeChores } from "../support/sweep.ts";
import { db } from "../support/testdrives.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

let tux: Client;
let applianceId: number;
beforeEach(async () => {
  await env.DB.prepare("DELETE FROM watches").run();
  tux = await signedIn();
  ({ applianceId } = await createBuild(tux));
});

/** Copies the appliance with its images, and their watches. */
async function copyFollower(times: number): Promise<void> {
  const { id: buildId } = await onlyRow("SELECT id FROM builds WHERE appliance_id = ?");
  const { top } = await onlyRow("SELECT max(id) AS top FROM appliances WHERE id >= ?");
  await copyRow("appliances", {
    id: applianceId,
    times,
    changes: { uuid: "one.uuid || '-' || i", request_id: "NULL" },
  });
  const copy = `${top} + i`;
  const uid = "one.uid || '-' || i";
  await copyRow("builds", {
    id: Number(buildId),
    times,
    changes: { appliance_id: copy, uid, download_token: uid, request_id: "NULL", claim_id: "NULL" },
  });
  const followers = `FROM appliances AS copy CROSS JOIN`;
  await env.DB.batch(
    [
      `INSERT INTO watches (appliance_id, account_id, look_at) SELECT id, account_id, 1 FROM appliances WHERE id > ${top}`,
      `INSERT INTO appliance_repositories SELECT copy.id, one.repository_id, one.position ${followers} appliance_repositories AS one
         WHERE copy.id > ${top} AND one.appliance_id = ${applianceId}`,
      `INSERT INTO image_updates (build_id, appliance_id, contents, newer, security, looked_at)
         SELECT copy.id, copy.appliance_id, one.contents, 0, 0, 1 FROM builds AS copy CROSS JOIN image_updates AS one
         WHERE copy.appliance_id > ${top} AND one.build_id = ${String(buildId)}`,
    ].map((sql) => env.DB.prepare(sql)),
  );
}

async function onlyRow(sql: string): Promise<Record<string, unknown>> {
  const row = await env.DB.prepare(sql).bind(applianceId).first<Record<string, unknown>>();
  if (!row) throw new Error(`nothing is found by: ${sql}`);
  return row;
}

const dueAt = (at: number) => env.DB.prepare("UPDATE watches SET look_at = ?").bind(at).run();
const countOf = async (where: string, ...values: number[]) =>
  await env.DB.prepare(`SELECT count(*) AS count FROM watches WHERE ${where}`)
    .bind(...values)
    .first<number>("count");

/** Runs the chore, and each further run that it requests. Returns the current times that these runs use. */
async function runsFrom(at: number): Promise<number[]> {
  const times: number[] = [];
  for (let waiting: unknown[] = [{ chore: "watchImages", at }]; waiting.length > 0;) {
    const [body] = waiting;
    waiting = [];
    const send = async (message: unknown) => void waiting.push(message);
    times.push((body as { at: number }).at);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a queue that only takes messages
    await takeChores([{ body }], { CHORES: { send } as unknown as Queue });
  }
  return times;
}

/** Lets Kiln rebuild the appliance within this window. */
async function buildsIn(automatic_builds_at: string): Promise<void> {
  const settings = { automatic_builds: "security", automatic_builds_at };
  expect((await putConfiguration(tux, applianceId, { settings })).status).toBe(200);
}

const clock = (at: number) => new Date(at).toISOString().slice(11, 16);

describe("with 500 followers of one short window", () => {
  it("looks at all of them in it, by what one sweep requests", async () => {
    const opens = Math.ceil(Date.now() / hourMs) * hourMs;
    await buildsIn(`${clock(opens)}-${clock(opens + 5 * minuteMs)}`);
    await runsFrom(opens - minuteMs);
    expect((await findWatch(db, applianceId))?.lookAt).toEqual(new Date(opens));
    await copyFollower(499);
    await dueAt(opens);

    const times = await runsFrom(opens);

    // A watch whose check has failed is due again in an hour.
    expect(await countOf("look_at = ?", opens + 24 * hourMs)).toBe(500);
    expect(times.length).toBeGreaterThan(500 / 40);
    expect(times.at(-1)).toBeLessThan(opens + 5 * minuteMs);
  });

  it("does not look between two windows more than once a day", async () => {
    const window = new Date(Date.now() + 10 * hourMs).toISOString().slice(11, 13);
    await buildsIn(`${window}:00-${window}:05`);
    await runsFrom(Date.now());

    const next = (await findWatch(db, applianceId))?.lookAt.toISOString() ?? "";
    expect(next.slice(11)).toBe(`${window}:00:00.000Z`);
  });
});

describe("of several accounts", () => {
  it("looks at the only appliance of one before most of another's thousand", async () => {
    await copyFollower(999);
    const other = await createBuild(await signedIn());
    const at = Date.now() + minuteMs;
    await dueAt(at - minuteMs);
    await env.DB.prepare("UPDATE watches SET look_at = ? WHERE appliance_id = ?")
      .bind(at - 1, other.applianceId)
      .run();

    const { due, isMore } = await takeDueWatches(db, { now: new Date(at), again: new Date(at + hourMs), limit: 30 });

    expect(due).toHaveLength(30);
    expect(due.map((one) => one.applianceId)).toContain(other.applianceId);
    expect(isMore).toBe(true);
  });

  it("gives the next turn to the accounts that had none", async () => {
    const made = [];
    for (let nth = 0; nth < 4; nth += 1) made.push(await createBuild(await signedIn()));
    await copyFollower(9);
    const at = Date.now() + minuteMs;
    await dueAt(at - minuteMs);
    const turn = async (nth: number) => {
      const { due } = await takeDueWatches(db, { now: new Date(at + nth), again: new Date(at + hourMs), limit: 2 });
      return due.map(({ accountId }) => accountId);
    };

    const first = [...(await turn(0)), ...(await turn(1)), ...(await turn(2))];

    expect(new Set(first).size).toBe(made.length + 1);
  });

  it("forgets the turn of an account whose last appliance is deleted", async () => {
    expect((await tux.delete(`/appliances/${applianceId}`)).status).toBe(200);
    expect(await env.DB.prepare("SELECT count(*) AS count FROM watch_turns").first("count")).toBe(0);
  });
});

it("ends what one sweep has requested after five minutes, because the next sweeps request it, too", async () => {
  await copyFollower(99);
  const at = Date.now() + minuteMs;
  await dueAt(at);
  const sent: unknown[] = [];
  const send = async (message: unknown) => void sent.push(message);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a queue that only takes messages
  const CHORES = { send } as unknown as Queue;

  await takeChores([{ body: { chore: "watchImages", at, since: at - 6 * minuteMs } }], { CHORES });
  expect(sent).toEqual([]);
  await takeChores([{ body: { chore: "watchImages", at } }], { CHORES });
  expect(sent).toEqual([{ chore: "watchImages", also: [], at: at + 1, since: at }]);
});
