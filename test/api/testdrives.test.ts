import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { addTestdrive, findTestdrive, listLiveTestdrives } from "#storage/testdrives";
import { signedIn, visit, type Client } from "../support/client.ts";
import {
  claimTestdrive,
  bootableBuild,
  db,
  objectOf,
  passTime,
  runningDrive,
  startDrive,
  until,
} from "../support/testdrives.ts";
import { expectError, readXml } from "../support/xml.ts";

afterEach(() => {
  vi.useRealTimers();
});

describe("POST testdrives", () => {
  it("returns how to reach the session, once an agent has claimed it", async () => {
    const tux = await signedIn();
    const build = await bootableBuild(tux);

    const posted = tux.post("/testdrives", { build_id: build.id });
    await until(
      async () =>
        (await (await claimTestdrive({ host: "192.0.2.7", port: 5901 })).json<{ testdrive: object | null }>())
          .testdrive ?? undefined,
    );
    const { testdrive } = await readXml(await posted);

    expect(Object.keys(testdrive)).toEqual(["id", "state", "build_id", "url", "server"]);
    expect(testdrive).toMatchObject({ state: "new", build_id: String(build.id) });
    expect(testdrive.url).toMatch(new RegExp(`^https://kiln\\.test/testdrive/${testdrive.id}/[\\w-]{32}$`));
    expect(testdrive.server).toEqual({
      vnc: { host: "192.0.2.7", port: "5901", password: expect.stringMatching(/^\w{8}$/) },
    });
  });

  it("accepts the parameter in a form on v1", async () => {
    const tux = await signedIn();
    const build = await bootableBuild(tux);
    const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;

    const posted = visit("/api/v1/user/testdrives", {
      method: "POST",
      headers: { authorization },
      body: new URLSearchParams({ build_id: String(build.id) }),
    });
    await until(
      async () => (await (await claimTestdrive()).json<{ testdrive: object | null }>()).testdrive ?? undefined,
    );

    expect((await readXml(await posted)).testdrive.state).toBe("new");
  });

  it("returns the service itself and port 0 without a VNC address", async () => {
    const { vnc } = await startDrive(await signedIn(), null);

    expect(vnc).toMatchObject({ host: "kiln.test", port: "0" });
  });

  it.each([
    ["without a build", {}, "missing_parameter"],
    ["of an invalid build", { build_id: "seven" }, "invalid_build_id"],
    ["of an unknown build", { build_id: 999_999 }, "invalid_build_id"],
  ])("refuses a testdrive %s", async (_what, params, code) => {
    await expectError(await (await signedIn()).post("/testdrives", params), 400, code);
  });

  it("refuses a build that a forced one has replaced", async () => {
    const tux = await signedIn();
    const build = await bootableBuild(tux, { retiredAt: new Date() });

    await expectError(await tux.post("/testdrives", { build_id: build.id }), 400, "invalid_build_id");
  });

  it.each([
    ["net", /PXE/],
    ["wsl", /kernel of its host/],
  ] as const)("explains why a build of type %s cannot start", async (imageType, reason) => {
    const tux = await signedIn();
    const build = await bootableBuild(tux, { imageType });

    const message = await expectError(await tux.post("/testdrives", { build_id: build.id }), 400, "build_not_found");

    expect(message).toMatch(reason);
  });

  it.each(["queued", "running", "failed", "error", "cancelled"] as const)(
    "refuses a build that is %s, because it has no image",
    async (status) => {
      const tux = await signedIn();
      const build = await bootableBuild(tux, { status, imageKey: null });

      await expectError(await tux.post("/testdrives", { build_id: build.id }), 400, "build_not_found");
    },
  );

  it("frees the slot if no agent claims it in time", async () => {
    const tux = await signedIn();
    const build = await bootableBuild(tux);

    const posted = tux.post("/testdrives", { build_id: build.id });
    const [waiting] = await until(async () => {
      const live = await listLiveTestdrives(db, tux.accountId);
      const [first] = live;
      return first && (await objectOf(first).look()) ? live : undefined;
    });
    if (!waiting) throw new Error("there is no testdrive");
    await passTime(waiting, 10_000);

    const sentence = await expectError(await posted, 400, "no_build_slots");
    expect(sentence).toMatch(/No builder agent/);
    expect((await findTestdrive(db, waiting.id))?.state).toBe("ended");
    expect(await (await claimTestdrive()).json()).toEqual({ testdrive: null });
  });

  it("refuses an account's fifth testdrive until one has ended", async () => {
    const tux = await signedIn();
    const first = await startDrive(tux);
    for (const _ of [2, 3, 4]) await startDrive(tux);
    const build = await bootableBuild(tux);

    const message = await expectError(await tux.post("/testdrives", { build_id: build.id }), 400, "no_build_slots");
    expect(message).toContain("You have 4 testdrives running, and an account may have 4, including checks");
    await objectOf(first).stop();

    expect(await startDrive(tux)).toMatchObject({ id: expect.any(Number) });
  });

  it("gives the last slots once to simultaneous requests", async () => {
    const tux = await signedIn();
    const rows = Array.from({ length: 6 }, () => ({
      accountId: tux.accountId,
      buildId: 1,
      pageToken: crypto.randomUUID(),
      wakeAt: new Date(),
    }));

    const added = await Promise.all(rows.map((row) => addTestdrive(db, row, { all: 10_000, perAccount: 2 })));

    expect(added.filter((row) => row !== undefined)).toHaveLength(2);
  });

  it("counts the slots of all accounts", async () => {
    const { accountId } = await signedIn();
    const row = { accountId, buildId: 1, pageToken: crypto.randomUUID(), wakeAt: new Date() };

    expect(await addTestdrive(db, row, { all: 0, perAccount: 2 })).toBeUndefined();
  });
});

describe("GET testdrives", () => {
  let tux: Client;
  beforeAll(async () => {
    tux = await signedIn();
  });

  it("lists the account's running testdrives in their short form", async () => {
    const running = await runningDrive(tux);
    const waiting = await startDrive(tux);
    await startDrive(await signedIn());

    const { testdrives } = await readXml(await tux.get("/testdrives"));

    expect(testdrives["@type"]).toBe("array");
    expect(testdrives.testdrive).toEqual([
      { id: String(running.id), state: "running", build_id: String(running.claim.buildId) },
      { id: String(waiting.id), state: "new", build_id: String(waiting.claim.buildId) },
    ]);
    await objectOf(running).stop();
    await objectOf(waiting).stop();

    expect((await readXml(await tux.get("/testdrives"))).testdrives).toEqual({ "@type": "array" });
  });
});

describe("DELETE testdrives/<id>", () => {
  it("ends a session and frees its slot, and may come twice", async () => {
    const tux = await signedIn();
    const drive = await runningDrive(tux);

    const answers = [await tux.delete(`/testdrives/${drive.id}`), await tux.delete(`/testdrives/${drive.id}`)];

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);

    expect(await listLiveTestdrives(db, tux.accountId)).toEqual([]);
    expect((await findTestdrive(db, drive.id))?.state).toBe("ended");
  });
});
