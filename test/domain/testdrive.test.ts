import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { endTestdrivesOf } from "#domain/testdrives/testdrive";
import { wakeSilentTestdrives } from "#domain/testdrives/wake";
import { addTestdrive, findTestdrive } from "#storage/testdrives";
import { signedIn } from "../support/client.ts";
import { counting } from "../support/counting.ts";
import { stopClock } from "../support/clock.ts";
import { db, joinedPair, passTimeAlive, runningDrive, startDrive, statusOf } from "../support/testdrives.ts";

const minuteMs = 60_000;

afterEach(() => void vi.useRealTimers());

async function slotWithoutObject(wakeAt: Date) {
  const { accountId } = await signedIn();
  const row = { accountId, buildId: 1, pageToken: crypto.randomUUID(), wakeAt };
  const added = await addTestdrive(db, row, { all: 10_000, perAccount: 2 });
  if (!added) throw new Error("no slot");
  return added.id;
}

describe("wakeSilentTestdrives", () => {
  it("frees the slot of a row whose object never started", async () => {
    const now = Date.now();
    const id = await slotWithoutObject(new Date(now));

    await wakeSilentTestdrives({ env, db }, now - 1);
    expect((await findTestdrive(db, id))?.state).toBe("new");
    await wakeSilentTestdrives({ env, db }, now);

    expect(await findTestdrive(db, id)).toMatchObject({ state: "ended", endedAt: expect.any(Date) });
  });

  it("ignores a session whose object shows that it lives", async () => {
    stopClock();
    const drive = await runningDrive(await signedIn());
    await joinedPair(drive); // an empty one would end
    for (let seconds = 0; seconds < 80; seconds += 20) await passTimeAlive(drive, 20_000);
    const watched = counting({ TESTDRIVES: env.TESTDRIVES });

    await wakeSilentTestdrives({ env: watched.env, db }, Date.now() + 4 * minuteMs);
    expect(watched.calls).toEqual([]);
    await wakeSilentTestdrives({ env: watched.env, db }, Date.now() + 6 * minuteMs);
    expect(watched.calls).toEqual(["TESTDRIVES.wake"]);
  });

  it("leaves a running session as it is", async () => {
    const drive = await runningDrive(await signedIn());

    await wakeSilentTestdrives({ env, db }, Date.now() + 6 * minuteMs);

    expect((await statusOf(drive)).state).toBe("running");
    expect((await findTestdrive(db, drive.id))?.state).toBe("running");
  });
});

describe("endTestdrivesOf", () => {
  it("asks the testdrives of this agent, and no others", async () => {
    const tux = await signedIn();
    const [own, other] = [await startDrive(tux), await startDrive(tux)];
    const agentId = (await findTestdrive(db, own.id))?.agentId ?? 0;
    await env.DB.prepare("UPDATE testdrives SET agent_id = -1 WHERE id <> ?").bind(own.id).run();
    const watched = counting({ TESTDRIVES: env.TESTDRIVES });

    await endTestdrivesOf({ env: watched.env, db }, { id: agentId }, undefined);

    expect(watched.calls).toEqual(["TESTDRIVES.endOfAgent"]);
    expect((await statusOf(own)).state).toBe("ended");
    expect((await statusOf(other)).state).not.toBe("ended");
  });
});
