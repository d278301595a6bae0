import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { refreshRepositories } from "#domain/repositories/refresh";
import { importInTurn, requestImports, resumeImports } from "#domain/repositories/turns";
import { sweep } from "#queues/sweep";
import { openDatabase } from "#storage/db";
import { beginTry, endLostTurn, endTry, endTurn, moveToPatient, renewTry } from "#storage/import-turns";
import { addRepository, findRepository } from "#storage/repositories";
import { signedIn } from "../support/client.ts";
import { heldMirror } from "../support/held-mirror.ts";
import { mirrorOf, rpmMd } from "../support/mirror.ts";
import { patienceMs } from "../support/patience.ts";

const db = openDatabase(env);

/** The messages sent to each queue. They are not consumed. */
let sent: { quick: number[]; patient: number[] };
const queueOf = (line: number[]) => ({
  send: async ({ repositoryId }: { repositoryId: number }) => void line.push(repositoryId),
});
const envWithQueues = (): Env => ({
  ...env,
  IMPORTS: queueOf(sent.quick) as never,
  SLOW_IMPORTS: queueOf(sent.patient) as never,
});

beforeEach(async () => {
  sent = { quick: [], patient: [] };
  await env.DB.exec("DELETE FROM import_turns");
  vi.spyOn(globalThis, "fetch").mockImplementation((to) => {
    const url = new URL(String(to));
    return mirrorOf({ [`http://mirror.example.org/${url.pathname.split("/")[1]}`]: rpmMd(["a-one-1"]) }).fetchOutside(
      url.href,
    );
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function repositoriesOf(count: number): Promise<number[]> {
  const { accountId } = await signedIn();
  const ids: number[] = [];
  for (let nth = 1; nth <= count; nth++) {
    const url = `http://mirror.example.org/${nth}`;
    const row = { accountId, name: "Linux", url, type: "rpm-md" as const, baseSystem: "other", arches: [] };
    ids.push((await addRepository(db, row))?.id ?? 0);
  }
  return ids;
}

const quick = (repositoryId: number) => importInTurn({ env: envWithQueues(), db }, { repositoryId, patience: "quick" });
const leaseOf = (id: number) =>
  env.DB.prepare("SELECT lease_ends_at FROM import_turns WHERE repository_id = ?").bind(id).first("lease_ends_at");
const state = async (id: number) => (await findRepository(db, id))?.importState;

describe("imports", () => {
  it("run one per account at a time, taking turns", async () => {
    const [first = 0, second = 0, third = 0] = await repositoriesOf(3);
    const [other = 0] = await repositoriesOf(1);
    await requestImports({ env: envWithQueues(), db }, [first, second, third]);
    await requestImports({ env: envWithQueues(), db }, [other]);
    expect(sent.quick).toEqual([first, other]);

    await quick(first);
    expect(sent.quick).toEqual([first, other, second]);
    expect(await state(first)).toBe("ready");
  });

  it("are sent once, however often they are requested before they start", async () => {
    const [id = 0] = await repositoriesOf(1);
    for (let times = 0; times < 3; times++) await requestImports({ env: envWithQueues(), db }, [id]);
    await quick(id);
    expect(sent.quick).toEqual([id]);
  });

  it("run again if they are requested while they run", async () => {
    const [id = 0] = await repositoriesOf(1);
    await requestImports({ env: envWithQueues(), db }, [id]);
    vi.mocked(fetch).mockImplementationOnce(async () => {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 1 });
      await requestImports({ env: envWithQueues(), db }, [id]);
      return new Response("", { status: 404 });
    });
    await quick(id);
    expect(sent.quick).toEqual([id, id]);
  });

  it("of slow mirrors have their own queue, so quick ones continue", async () => {
    const [slow = 0, next = 0] = await repositoriesOf(2);
    await requestImports({ env: envWithQueues(), db }, [slow, next]);
    const mirror = heldMirror("http://mirror.example.org/1", rpmMd(["a-one-1"]), "repodata/primary.xml.gz");
    vi.mocked(fetch).mockImplementation((to) => mirror.fetchOutside(String(to), {}));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
    const end = quick(slow);
    await mirror.begun;
    await vi.advanceTimersByTimeAsync(10_000);
    await end;
    expect(sent).toEqual({ quick: [slow, next], patient: [slow] });
    expect(await state(slow)).toBe("importing");
  });

  it("still succeed at the fourth try", async () => {
    const [id = 0] = await repositoriesOf(1);
    await requestImports({ env: envWithQueues(), db }, [id]);
    await env.DB.prepare("UPDATE import_turns SET tries = 3 WHERE repository_id = ?").bind(id).run();
    await quick(id);
    expect(await state(id)).toBe("ready");
  });

  it("fail after they have started several times and never ended", async () => {
    const [id = 0, next = 0] = await repositoriesOf(2);
    await requestImports({ env: envWithQueues(), db }, [id, next]);
    await env.DB.prepare("UPDATE import_turns SET tries = 4 WHERE repository_id = ?").bind(id).run();
    await env.DB.prepare("UPDATE repositories SET check_id = 'killed' WHERE id = ?").bind(id).run();
    await quick(id);
    expect(await state(id)).toBe("failed");
    expect(sent.quick).toEqual([id, next]);
  });

  it("are sent again after a while if their messages are lost", async () => {
    const [id = 0] = await repositoriesOf(1);
    await requestImports({ env: envWithQueues(), db }, [id]);
    await resumeImports({ env: envWithQueues(), db }, Date.now() + 60_000);
    expect(sent.quick).toEqual([id]);
    await resumeImports({ env: envWithQueues(), db }, Date.now() + 21 * 60_000);
    expect(sent.quick).toEqual([id, id]);
  });

  it("go on soon after their consumer was killed, and not while it lives", async () => {
    const [id = 0] = await repositoriesOf(1);
    await requestImports({ env: envWithQueues(), db }, [id]);
    vi.mocked(fetch).mockImplementation(() => new Promise(() => {}));
    vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
    void quick(id);
    await vi.waitFor(() => expect(fetch).toHaveBeenCalled(), patienceMs);
    await vi.advanceTimersByTimeAsync(50_000);
    await vi.waitFor(async () => expect(await leaseOf(id)).toBeGreaterThan(Date.now() + 40_000), patienceMs);
    await resumeImports({ env: envWithQueues(), db }, Date.now() + 30_000);
    expect(sent.quick).toEqual([id]);
    const killedAt = Date.now();
    vi.clearAllTimers();
    await resumeImports({ env: envWithQueues(), db }, killedAt + 61_000);
    expect(sent.quick).toEqual([id, id]);
  });

  it("whose consumer has lost its lease neither renew nor end another's", async () => {
    const [id = 0] = await repositoriesOf(1);
    await requestImports({ env: envWithQueues(), db }, [id]);
    const now = new Date();
    const [later, latest] = [new Date(now.getTime() + 60_000), new Date(now.getTime() + 120_000)];
    await beginTry(db, id, { now, leaseEndsAt: later });
    await beginTry(db, id, { now: later, leaseEndsAt: latest });
    const lost = { repositoryId: id, ends: [later] };

    expect(await renewTry(db, lost, new Date(latest.getTime() + 1))).toBe(false);
    for (const end of [endTry, moveToPatient]) await end(db, lost);
    await endTurn(db, lost, latest);
    await endLostTurn(db, id, later);

    expect(await leaseOf(id)).toBe(latest.getTime());
    await endTurn(db, { repositoryId: id, ends: [latest] }, latest);
    expect(await leaseOf(id)).toBe(null);
  });

  it("that wait do not take the places of other accounts' repositories in a refresh", async () => {
    const waiting = await repositoriesOf(50);
    const [other = 0] = await repositoriesOf(1);
    await requestImports({ env: envWithQueues(), db }, waiting);
    await env.DB.prepare("UPDATE repositories SET checked_at = iif(id = ?, 2, 1) WHERE id >= ?")
      .bind(other, waiting[0])
      .run();
    await refreshRepositories({ env: envWithQueues(), db }, Date.now());
    expect(sent.quick).toContain(other);
  });

  it("are not done twice at once if their message comes twice", async () => {
    const [id = 0] = await repositoriesOf(1);
    await requestImports({ env: envWithQueues(), db }, [id]);
    const answer = Promise.withResolvers<Response>();
    vi.mocked(fetch).mockImplementation(() => answer.promise);
    const first = quick(id);
    await vi.waitFor(() => expect(fetch).toHaveBeenCalled(), patienceMs);
    await quick(id);
    expect(fetch).toHaveBeenCalledTimes(1);
    vi.mocked(fetch).mockResolvedValue(new Response("", { status: 404 }));
    answer.resolve(new Response("", { status: 404 }));
    await first;
    expect(await state(id)).toBe("failed");
  });

  it("are not done again if their message comes again after their end", async () => {
    const [id = 0] = await repositoriesOf(1);
    await requestImports({ env: envWithQueues(), db }, [id]);
    await quick(id);
    vi.mocked(fetch).mockClear();
    await quick(id);
    expect(fetch).not.toHaveBeenCalled();
  });

  it("continue immediately after a failure of this service", async () => {
    const [id = 0] = await repositoriesOf(1);
    await requestImports({ env: envWithQueues(), db }, [id]);
    const broken = { ...envWithQueues(), BLOBS: { put: () => Promise.reject(new Error("R2 is away")) } as never };
    await expect(importInTurn({ env: broken, db }, { repositoryId: id, patience: "quick" })).rejects.toThrow();
    await quick(id);
    expect(await state(id)).toBe("ready");
  });

  it("continue immediately after the process with the queues and the consumers has ended", async () => {
    const [begun = 0, next = 0] = await repositoriesOf(2);
    const [sentOnly = 0] = await repositoriesOf(1);
    await requestImports({ env: envWithQueues(), db }, [begun, next]);
    await requestImports({ env: envWithQueues(), db }, [sentOnly]);
    vi.mocked(fetch).mockImplementation(() => new Promise(() => {}));
    void quick(begun);
    await vi.waitFor(() => expect(fetch).toHaveBeenCalled(), patienceMs);
    sent.quick = [];
    await sweep({ scheduledTime: Date.now(), cron: "start" }, envWithQueues());
    expect(sent.quick.toSorted()).toEqual([begun, sentOnly].toSorted());
  });

  it("wait for the next minute if the queue refuses a message", async () => {
    const [id = 0] = await repositoriesOf(1);
    const broken = { ...envWithQueues(), IMPORTS: { send: () => Promise.reject(new Error("no queue")) } as never };
    await expect(requestImports({ env: broken, db }, [id])).rejects.toThrow("no queue");
    await resumeImports({ env: envWithQueues(), db }, Date.now());
    expect(sent.quick).toEqual([id]);
  });
});
