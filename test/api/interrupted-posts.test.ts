import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { signedIn } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { patienceMs } from "../support/patience.ts";
import { expectError, readXml } from "../support/xml.ts";
import type { Row } from "./every-call/row.ts";
import { rows } from "./every-call/rows.ts";
import { makeSample, type Sample, prepareSamples } from "./every-call/sample.ts";
import { filled, filledBody, sent } from "./every-call/send.ts";

let own: Sample;
beforeAll(async () => {
  await prepareSamples();
  own = await makeSample();
  const friend = await signedIn();
  own.ids = { ...own.ids, friend: friend.username };
});

/** Calls that replace something. A repetition does the same again. */
const again = ["POST /testdrives/{testdrive_id}/modified_files/keep"];

/** The table with the row that a call creates. The first id in the answer is from this table. */
const made: Record<string, string> = {
  "POST /appliances": "appliances",
  "POST /running_builds": "builds",
  "POST /files": "overlay_files",
  "POST /rpms": "rpms",
  "POST /repositories": "repositories",
  "POST /testdrives": "testdrives",
  "POST /webhooks": "webhooks",
  "POST /tokens": "tokens",
  "POST /uploads": "resumable_uploads",
  "POST /appliances/{appliance_id}/gpg_keys": "gpg_keys",
};

/** From now on, a request with a key cannot update the key, as if the isolate was killed after the work. */
async function interrupt(): Promise<void> {
  for (const change of ["UPDATE", "DELETE"]) {
    await env.DB.prepare(
      `CREATE TRIGGER interrupted_${change} BEFORE ${change} ON idempotent_answers
       BEGIN SELECT RAISE(ABORT, 'the isolate is gone'); END`,
    ).run();
  }
}

async function stopInterrupting(): Promise<void> {
  await env.DB.batch(["UPDATE", "DELETE"].map((change) => env.DB.prepare(`DROP TRIGGER interrupted_${change}`)));
}

const tables = ["appliances", "selections", "appliance_repositories", "shares", "overlay_files", "gpg_keys", "builds"];
const more = [
  "rpms",
  "repositories",
  "testdrives",
  "publications",
  "comments",
  "ratings",
  "webhooks",
  "tokens",
  "resumable_uploads",
];

/** Row counts, and the last id in the call's table. The id reveals a second creation even if it replaces the first. */
async function state(call: string): Promise<Record<string, number | null>> {
  const counts = [...tables, ...more].map((name) => `(SELECT count(*) FROM ${name}) AS ${name}`);
  const last = "(SELECT seq FROM sqlite_sequence WHERE name = ?) AS last";
  const all = env.DB.prepare(`SELECT ${counts.join(", ")}, ${last}`).bind(made[call] ?? "");
  return (await all.first<Record<string, number | null>>()) ?? {};
}

/** Passes the time after which a live request would have renewed its key. Returns that time in milliseconds. */
async function passSilence(key: string): Promise<number> {
  const lease = "SELECT lease_ends_at FROM idempotent_answers WHERE key = ?";
  const endsAt = await env.DB.prepare(lease).bind(key).first<number>("lease_ends_at");
  await env.DB.prepare("UPDATE idempotent_answers SET lease_ends_at = ? WHERE key = ?")
    .bind(Date.now() - 1, key)
    .run();
  return (endsAt ?? Infinity) - Date.now();
}

// The bytes of an upload are sent with their offset, so a repetition is refused because of its offset: see
// uploads.test.ts. A plan changes nothing, so it may happen twice.
const posts = rows.filter(
  ({ call }) => call.startsWith("POST ") && !call.endsWith("/plan") && call !== "POST /uploads/{upload_id}",
);

describe.each(posts.map((row) => [row.call, row] as const))(
  "%s, killed between its work and its answer,",
  (call, row) => {
    it("is not executed again under its Idempotency-Key, and gets an answer", async () => {
      const sample = row.fresh ? await row.fresh(own) : own;
      const key = crypto.randomUUID();
      const complaint = vi.spyOn(console, "error").mockImplementation(() => {});
      await interrupt();
      const [first] = await Promise.all([post(row, sample, key), row.meanwhile?.(sample)]);
      await stopInterrupting();
      complaint.mockRestore();
      expect([first.status, await first.text()]).toEqual([500, expect.stringContaining("internal_error")]);
      const before = await state(call);

      expect(await expectError(await post(row, sample, key), 409, "unknown_error")).toContain("still in progress");
      expect(await passSilence(key)).toBeLessThan(10_000);
      const [second] = await Promise.all([post(row, sample, key), again.includes(call) && row.meanwhile?.(sample)]);

      const text = await second.text();
      expect([second.status, second.headers.get("idempotency-replayed")], text).toEqual([row.status ?? 200, null]);
      expect(await state(call)).toEqual(before);
      if (call in made) expect(Number(/<id>(\d+)<\/id>/.exec(text)?.[1])).toBe(before["last"]);
      const third = await post(row, sample, key);
      if (third.status !== 409)
        expect([third.headers.get("idempotency-replayed"), await third.text()]).toEqual(["true", text]);
      else expect(await expectError(third, 409, "unknown_error")).toContain("already succeeded");
    });
  },
);

const post = ({ path, sent: body }: Row, { ids, tux }: Sample, key: string) =>
  sent({ method: "POST", path: filled(path, ids), body: filledBody(body, ids), credentials: tux, key });

describe("a POST under an Idempotency-Key", () => {
  it("does not replace, with force, its own build", async () => {
    const applianceId = await createAppliance(own.tux);
    const [key, path] = [crypto.randomUUID(), `/running_builds?appliance_id=${applianceId}&force=1`];
    const ask = () => sent({ method: "POST", path, credentials: own.tux, key });
    const complaint = vi.spyOn(console, "error").mockImplementation(() => {});
    await interrupt();
    await (await ask()).body?.cancel();
    await stopInterrupting();
    complaint.mockRestore();
    await passSilence(key);

    const { build } = await readXml(await ask());

    expect(build.state).toBe("queued");
    const { running_builds: running } = await readXml(await own.tux.get(`/running_builds?appliance_id=${applianceId}`));
    expect([running.running_build].flat().map(({ id }) => id)).toEqual([build.id]);
  });

  it("replays one webhook delivery, however often it is sent", async () => {
    const { tux, ids } = own;
    const path = `/webhooks/${ids["webhook"]}/deliveries`;
    const before = [(await readXml(await tux.get(path))).deliveries.delivery].flat().length;
    const key = crypto.randomUUID();
    const replay = () => sent({ method: "POST", path: `${path}/${ids["delivery"]}/replay`, credentials: tux, key });
    const complaint = vi.spyOn(console, "error").mockImplementation(() => {});
    await interrupt();
    await (await replay()).body?.cancel();
    await stopInterrupting();
    complaint.mockRestore();
    await passSilence(key);

    expect((await replay()).status).toBe(200);

    expect([(await readXml(await tux.get(path))).deliveries.delivery].flat()).toHaveLength(before + 1);
  });

  it("creates one thing if the first request was only slow", async () => {
    const applianceId = await createAppliance(own.tux);
    const [key, url] = [crypto.randomUUID(), "https://slow.example.org/motd"];
    const file = { isThere: false };
    let asked = 0;
    // Webhook deliveries of earlier tests continue during this test, and are not counted.
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
      if (new Request(input, init).url !== url) return new Response();
      asked += 1;
      while (!file.isThere) await scheduler.wait(10);
      return new Response("welcome");
    });
    const ask = () =>
      sent({ method: "POST", path: `/files?appliance_id=${applianceId}&url=${url}`, credentials: own.tux, key });

    const slow = ask();
    await vi.waitFor(() => expect(asked).toBe(1), patienceMs);
    await passSilence(key);
    const second = ask();
    await vi.waitFor(() => expect(asked).toBe(2), patienceMs);
    file.isThere = true;
    const answers = await Promise.all([slow, second].map(async (one) => (await readXml(await one)).file.id));

    expect(answers[0]).toBe(answers[1]);
    const { files } = await readXml(await own.tux.get(`/files?appliance_id=${applianceId}`));
    expect([files.file].flat()).toHaveLength(1);
  });
});
