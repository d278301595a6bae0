import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import { testdrives } from "#storage/schema";
import { signedIn, visit, type Client } from "../support/client.ts";
import { bootableBuild, claimTestdrive, until } from "../support/testdrives.ts";
import { wholeDatabase } from "../support/whole-database.ts";
import { readXml, type XmlDocument } from "../support/xml.ts";

const post = (tux: Client, buildId: number) =>
  visit(`/api/v2/user/testdrives?build_id=${buildId}&network=on`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`, "idempotency-key": "k1" },
  });

/** Starts a session, acting as its user and its agent. */
async function started(tux: Client): Promise<{ buildId: number; text: string; testdrive: XmlDocument }> {
  const { id: buildId } = await bootableBuild(tux);
  const posted = post(tux, buildId);
  await until(async () => (await (await claimTestdrive()).json<{ testdrive: object | null }>()).testdrive ?? undefined);
  const answer = await posted;
  const { testdrive } = await readXml(answer.clone());
  return { buildId, text: await answer.text(), testdrive };
}

describe("a testdrive started with an Idempotency-Key", () => {
  it("has its addresses and its password in no table, and the same answer at a repeat", async () => {
    const tux = await signedIn();
    const { buildId, text, testdrive } = await started(tux);
    const [, , , page] = new URL(testdrive.url).pathname.split("/");
    const [, , , web] = new URL(testdrive.web_url).pathname.split("/");

    const stored = JSON.stringify(await wholeDatabase());
    const again = await post(tux, buildId);

    expect([page, web]).toEqual([expect.stringMatching(/^[\w-]{32}$/), expect.stringMatching(/^[\w-]{32}$/)]);
    expect(stored).toContain(tux.username);
    for (const secret of [page, web, testdrive.server.vnc.password]) expect(stored).not.toContain(secret);
    expect([again.headers.get("idempotency-replayed"), await again.text()]).toEqual(["true", text]);
  });

  it("gets the same addresses if the first answer was lost", async () => {
    const tux = await signedIn();
    const { buildId, text } = await started(tux);
    await env.DB.prepare("UPDATE idempotent_answers SET status = NULL, body = NULL, lease_ends_at = 0").run();

    const again = await post(tux, buildId);

    expect([again.headers.get("idempotency-replayed"), await again.text()]).toEqual([null, text]);
  });

  it("is still found by an address from before rows were encrypted", async () => {
    const tux = await signedIn();
    const { testdrive } = await started(tux);
    const db = openDatabase(env);
    await db
      .update(testdrives)
      .set({ pageToken: "in-clear" })
      .where(eq(testdrives.id, Number(testdrive.id)));

    expect((await visit(`/testdrive/${testdrive.id}/in-clear/state`)).status).toBe(200);
  });
});
