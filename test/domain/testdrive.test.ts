import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { wakeTestdrives } from "#domain/testdrives/testdrive";
import { testdrives } from "#storage/schema";
import { addTestdrive, findTestdrive } from "#storage/testdrives";
import { eq } from "drizzle-orm";
import { signedIn } from "../support/client.ts";
import { db, runningDrive, statusOf } from "../support/testdrives.ts";

const makeOld = (id: number) =>
  db
    .update(testdrives)
    .set({ createdAt: new Date(Date.now() - 61_000) })
    .where(eq(testdrives.id, id));

async function slotWithoutObject() {
  const row = { accountId: (await signedIn()).accountId, buildId: 1, pageToken: crypto.randomUUID() };
  const added = await addTestdrive(db, row, { all: 10_000, perAccount: 2 });
  if (!added) throw new Error("no slot");
  return added.id;
}

describe("wakeTestdrives", () => {
  it("frees the slot of a row whose object never started", async () => {
    const id = await slotWithoutObject();
    await makeOld(id);

    await wakeTestdrives(env, db);

    expect(await findTestdrive(db, id)).toMatchObject({ state: "ended", endedAt: expect.any(Date) });
  });

  it("ignores a row whose session is starting", async () => {
    const id = await slotWithoutObject();

    await wakeTestdrives(env, db);

    expect((await findTestdrive(db, id))?.state).toBe("new");
  });

  it("ignores a running session", async () => {
    const drive = await runningDrive(await signedIn());
    await makeOld(drive.id);

    await wakeTestdrives(env, db);

    expect((await statusOf(drive)).state).toBe("running");
    expect((await findTestdrive(db, drive.id))?.state).toBe("running");
  });
});
