/** Checks of an image by an agent whose report the test chooses. */
import { Buffer } from "node:buffer";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { attemptHeader, completeCheck, type CheckResult } from "#lib/contract/index";
import { wakeChecks } from "#domain/checks/sweep";
import { addTestdrive, findTestdrive, saveTestdrive, type Testdrive } from "#storage/testdrives";
import { pngOf } from "../picture/png-maker.ts";
import { checkedBuild, claim, claimOf, endSession, finishes, reported, runsOf } from "../support/checks.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { putConfiguration } from "../support/configurations.ts";
import { publish } from "../support/gallery.ts";
import { pageOf, textOf } from "../support/html.ts";
import { db, until } from "../support/testdrives.ts";

let tux: Client;
beforeAll(async () => {
  tux = await signedIn();
});

const login = completeCheck({ kind: "login" });
const closed = completeCheck({ kind: "port_closed", port: 23 });
const passed: CheckResult = { outcome: "passed", seen: "It came.", seconds: 12 };
const failed: CheckResult = {
  outcome: "failed",
  seen: "The machine accepted \u202ea \u001b[1mconnection.",
  seconds: 13,
};

/** A testdrive of the account, claimed by an agent. */
async function useSlot(buildId: number): Promise<Testdrive> {
  const row = {
    accountId: tux.accountId,
    buildId,
    pageToken: crypto.randomUUID(),
    wakeAt: new Date(Date.now() + 3_600_000),
  };
  const added = await addTestdrive(db, row, { all: 1000, perAccount: 1000 });
  if (!added) throw new Error("no testdrive");
  await saveTestdrive(db, added.uid, { state: "running" });
  return added;
}

describe("the checks of a build", () => {
  it("run when it has finished, and say what was seen", async () => {
    const { buildId } = await checkedBuild(tux);
    expect((await runsOf(tux, buildId)).map(({ state }) => state)).toEqual(["waiting"]);

    const claimed = await claimOf(buildId);
    expect(claimed).toMatchObject({ checks: [login, closed], hasNetwork: true });
    expect((await runsOf(tux, buildId))[0]?.state).toBe("running");
    const answers = [await reported(claimed, [passed, failed]), await reported(claimed, [passed, passed])];

    expect(answers.map(({ status }) => status)).toEqual([204, 204]);
    const [run] = await runsOf(tux, buildId);
    expect(run).toMatchObject({ state: "failed", login_seconds: 12, console: "Welcome\ntiny login: " });
    expect(run?.checks[1]).toEqual({
      kind: "port_closed",
      expected: "Port 23 refuses connections when the machine has booted.",
      outcome: "failed",
      seen: "The machine accepted a [1mconnection.",
      seconds: 13,
    });
    await endSession(claimed);
    expect((await runsOf(tux, buildId))[0]?.state).toBe("failed");
  });

  it("run on request, once at a time", async () => {
    const { buildId } = await checkedBuild(tux);
    const [first] = await runsOf(tux, buildId);
    await tux.post(`/builds/${buildId}/checks`);
    expect((await runsOf(tux, buildId)).map(({ id }) => id)).toEqual([first?.id]);
    await finishes(buildId, [passed, passed]);

    expect((await tux.post(`/builds/${buildId}/checks`)).status).toBe(200);

    expect((await runsOf(tux, buildId)).map(({ state }) => state)).toEqual(["waiting", "passed"]);
    await finishes(buildId, [passed, passed]);
  });

  it("go to another agent if one dies, and at last say that nothing is known", async () => {
    const { buildId } = await checkedBuild(tux);
    for (const state of ["waiting", "waiting", "error"]) {
      const claimed = await claimOf(buildId);
      await endSession(claimed);
      await until(async () => ((await runsOf(tux, buildId))[0]?.state === state ? true : undefined));
      expect((await reported(claimed, [passed, passed])).status).toBe(410);
    }
    expect((await runsOf(tux, buildId))[0]?.message).toBe("You stopped it.");
  });

  it("are not passed if one could not be run", async () => {
    const { buildId } = await checkedBuild(tux);
    await finishes(buildId, [passed, { outcome: "not_run", seen: "No answer.", seconds: 9 }]);
    expect((await runsOf(tux, buildId))[0]?.state).toBe("error");
  });

  it("are no testdrives of the account, and not for agents that cannot check", async () => {
    const { buildId } = await checkedBuild(tux);
    expect(await claim(false)).toBeNull();
    const claimed = await claimOf(buildId);

    const list = await (
      await tux.get("/testdrives", { headers: { accept: "application/json" } })
    ).json<{ testdrives: unknown[] }>();
    expect(list.testdrives).toEqual([]);
    expect((await tux.delete(`/testdrives/${claimed.testdriveId}`)).status).toBe(404);
    await reported(claimed, [passed, passed]);
    await endSession(claimed);
  });

  it("wait while all testdrives of their account are in use", async () => {
    const { buildId } = await checkedBuild(tux);
    const taken = [];
    for (let slot = 0; slot < Number(env.MAX_TESTDRIVES_PER_ACCOUNT); slot += 1) taken.push(await useSlot(buildId));
    expect(await claim()).toBeNull();

    for (const { uid } of taken) await saveTestdrive(db, uid, { state: "ended" });
    await finishes(buildId, [passed, passed]);
  });

  it("do not wait behind checks that the agent cannot do", async () => {
    const { buildId: other } = await checkedBuild(tux, { checks: [{ kind: "command", command: "true" }] });
    const { buildId } = await checkedBuild(tux);
    expect((await runsOf(tux, other))[0]?.state).toBe("waiting");
    await finishes(buildId, [passed, passed]);
    await finishes(other, [passed], {}, { canRunCommands: true });
  });

  it("compare the screen with that of a build of the account, if it has passed", async () => {
    const { buildId: earlier } = await checkedBuild(tux, { checks: [{ kind: "login" }] });
    const { buildId } = await checkedBuild(tux, { checks: [{ kind: "screen", build: earlier }] });
    const before = await claimOf(earlier);
    const screen = pngOf(20, 10);
    await reported(before, [passed], { screen: Buffer.from(screen).toString("base64") });
    await endSession(before);
    expect(await claim()).toBeNull(); // an agent that cannot compare screens
    const claimed = await claim(true, { canCompareScreens: true });
    if (claimed?.buildId !== buildId) throw new Error("the checks were not offered");
    const read = (build: number, token = claimed.token) =>
      visit(`/agent/testdrives/${claimed.testdriveId}/checks/screens/${build}`, {
        headers: { authorization: `Bearer ${env.AGENT_TOKEN}`, [attemptHeader]: token },
      });

    const answer = await read(earlier);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/png"]);
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(screen);
    expect((await read(buildId)).status).toBe(204); // no check is about it
    expect((await read(earlier, before.token)).status).not.toBe(200);

    await env.DB.prepare("UPDATE check_runs SET account_id = account_id + 1 WHERE build_id = ?").bind(earlier).run();
    expect((await read(earlier)).status).toBe(204); // another account's build
    await env.DB.prepare("UPDATE check_runs SET account_id = account_id - 1, state = 'failed' WHERE build_id = ?")
      .bind(earlier)
      .run();
    expect((await read(earlier)).status).toBe(204);
    await reported(claimed, [passed]);
    await endSession(claimed);
  });

  it("refuse a report for other checks", async () => {
    const { buildId } = await checkedBuild(tux);
    const claimed = await claimOf(buildId);
    expect((await reported(claimed, [passed])).status).toBe(400);
    expect((await reported(claimed, [passed, passed])).status).toBe(204);
    await endSession(claimed);
  });

  it("are not run without checks, or on a format that does not boot alone", async () => {
    const { buildId } = await checkedBuild(tux, { checks: [] });
    const answer = await tux.post(`/builds/${buildId}/checks`);
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining("The appliance has no checks."),
    ]);
    expect(await runsOf(tux, buildId)).toEqual([]);
  });

  it("wait again after a crash between the row and the session", async () => {
    const { buildId } = await checkedBuild(tux);
    const claimed = await claimOf(buildId);
    const row = await findTestdrive(db, claimed.testdriveId);
    await env.DB.prepare("DELETE FROM testdrives WHERE uid = ?").bind(row?.uid).run();

    await wakeChecks({ env, db }, Date.now() + 10 * 60_000);

    expect((await runsOf(tux, buildId))[0]?.state).toBe("waiting");
    await finishes(buildId, [passed, passed]);
  });

  it("are deleted with the build", async () => {
    const { buildId } = await checkedBuild(tux);
    await finishes(buildId, [passed, passed]);
    await tux.delete(`/builds/${buildId}`);
    const left = await env.DB.prepare("SELECT count(*) AS n FROM check_runs WHERE build_id = ?")
      .bind(buildId)
      .first("n");
    expect(left).toBe(0);
  });
});

describe("an appliance that demands checks", () => {
  const demanding = { checks: [{ kind: "login" }], settings: { publish_when: "checked" } };

  it("refuses to publish until they have passed", async () => {
    const { applianceId, buildId } = await checkedBuild(tux, demanding);
    const refusal = async () => (await publish(tux, applianceId)).text();

    expect(await refusal()).toContain("Version 0.0.1 (oem) cannot be published: its checks have not ended yet.");
    await finishes(buildId, [{ ...failed, seen: "No prompt." }]);
    expect(await refusal()).toContain("a check failed: A login prompt is on the serial console within 300 s.");
    await putConfiguration(tux, applianceId, { checks: [{ kind: "login", seconds: 600 }] });
    await tux.post(`/builds/${buildId}/checks`);
    await finishes(buildId, [passed]);
    await putConfiguration(tux, applianceId, { checks: [{ kind: "login", seconds: 60 }] });
    expect(await refusal()).toContain("its checks have changed since they ran");
    await putConfiguration(tux, applianceId, { checks: [{ kind: "login", seconds: 600 }] });

    expect((await publish(tux, applianceId)).status).toBe(200);
    const page = await pageOf(visit(`/gallery/${applianceId}/0.0.1`));
    expect(textOf(page, ".facts")).toMatch(/Checkedit boots, on .*, login after 12 s/);
  });
});
