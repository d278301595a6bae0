/** The operator's pages. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { findAccount } from "#storage/accounts";
import { openDatabase } from "#storage/db";
import { addRepository } from "#storage/repositories";
import { browser, browserWith, sessionOf, statusOf } from "../support/browser.ts";
import { operate, signedIn, withKey } from "../support/client.ts";
import { pageOf, textOf } from "../support/html.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { bootableBuild, db } from "../support/testdrives.ts";
import { operatorsBrowser, type Operator } from "../support/operator.ts";

let ops: Operator["ops"];
let firefox: Operator["firefox"];
let send: Operator["send"];
beforeEach(async () => {
  ({ ops, firefox, send } = await operatorsBrowser());
});
afterEach(async () => void (await operate("PUT", "/read-only", { on: false })));

const statusOfBuild = async (build: number) =>
  (await env.DB.prepare("SELECT status FROM builds WHERE id = ?").bind(build).first<{ status: string }>())?.status;

const runningBuilds = async () => {
  const answer = await operate("GET", "/queue/running");
  return (await answer.json<{ builds: { id: number; username: string; status: string }[] }>()).builds;
};

/** The operator's message to users who are not signed in. */
const said = async (path: string) =>
  textOf(await pageOf(browser().get(path, { accept: "text/html" })), "#announcement");

describe("/service", () => {
  it("is there for operators alone", async () => {
    const eve = browserWith((await sessionOf(await signedIn())).secret);
    const form = { form_token: await eve.formToken(), mode: "on", state: "locked" };
    for (const path of ["/service", "/service/accounts", `/service/accounts/${ops.username}`]) {
      expect((await browser().get(path)).headers.get("location")).toContain("/sign_in?to=");
      expect(await statusOf(eve.get(path))).toBe(404);
      expect(await statusOf(firefox.get(path))).toBe(200);
    }
    expect(await statusOf(eve.post("/service/read_only", form))).toBe(404);
    expect(await statusOf(eve.post(`/service/accounts/${ops.username}/lock`, form))).toBe(404);
    expect(textOf(await pageOf(eve.get("/")), "nav[aria-label=Main]")).not.toContain("Service");
    expect(textOf(await pageOf(firefox.get("/")), "nav[aria-label=Main]")).toContain("Service");
    await operate("PUT", `/accounts/${ops.username}/operator`, { operator: false });
    expect(await statusOf(firefox.get("/service"))).toBe(404);
  });

  it("shows why each build waits, and what has failed, of the service or of its appliance", async () => {
    const tux = await signedIn();
    await bootableBuild(tux, { status: "queued", imageKey: null, needsLvm: true });
    await bootableBuild(tux, {
      status: "error",
      imageKey: null,
      message: "barn <disappeared>",
      completedAt: new Date(),
    });
    await bootableBuild(tux, { status: "failed", imageKey: null, message: "no systemctl", completedAt: new Date() });
    const page = await pageOf(firefox.get("/service"));
    expect(textOf(page, "[aria-labelledby=queue] tbody")).toContain("No builder that can do this is connected");
    expect(textOf(page, "[aria-labelledby=failures]")).toMatch(
      /appliance ?Kiosk.*no systemctl.*service ?Kiosk.*barn <disapp/,
    );
    const { builds } = await (await operate("GET", "/queue")).json<{ builds: { username: string; why: string }[] }>();
    expect(builds.find(({ username }) => username === tux.username)?.why).toMatch(/^Waiting: no builder/);
    const failures = await (await operate("GET", "/queue/failures")).text();
    expect(failures).toContain("no systemctl");
  });

  it("cancels a build of any account, and builds once more what has failed", async () => {
    const tux = await signedIn();
    const appliance = await createAppliance(tux);
    const id = await startBuild(tux, appliance);
    expect(textOf(await pageOf(firefox.get("/service")), "[aria-labelledby=queue] tbody")).toContain(tux.username);
    expect((await send(`/service/builds/${id}/cancel`)).status).toBe(303);
    expect(await statusOfBuild(id)).toBe("cancelled");
    expect((await send(`/service/builds/${id}/again`)).status).toBe(404);
    await env.DB.prepare("UPDATE builds SET status = 'error' WHERE id = ?").bind(id).run();
    expect((await send(`/service/builds/${id}/again`)).headers.get("location")).toBe("/service");
    const { builds } = await (await operate("GET", "/queue")).json<{ builds: { id: number; username: string }[] }>();
    const again = builds.find(({ username }) => username === tux.username);
    expect((await operate("DELETE", `/queue/${again?.id}`)).status).toBe(200);
    expect(await statusOfBuild(again?.id ?? 0)).toBe("cancelled");
    expect((await operate("POST", `/queue/failures/${again?.id}/again`)).status).toBe(400);
    expect((await operate("DELETE", "/queue/x")).status).toBe(400);
    expect((await send("/service/builds/999999/cancel")).status).toBe(404);
  });

  it("ends a running build of any account, and notifies the agent", async () => {
    const tux = await signedIn();
    const build = await startBuild(tux, await createAppliance(tux));
    const attempt = await (await fakeAgent()).claimsBuild(build);
    expect(await runningBuilds()).toContainEqual(
      expect.objectContaining({ id: Number(build), username: tux.username, status: "running" }),
    );
    const panel = "[aria-labelledby=running] tbody";
    expect(textOf(await pageOf(firefox.get("/service")), panel)).toContain(tux.username);
    expect((await send(`/service/builds/${build}/cancel`)).status).toBe(303);
    expect(textOf(await pageOf(firefox.get("/service")), "#result")).toBe("The build is cancelled.");
    expect(await statusOfBuild(Number(build))).toBe("cancelled");
    expect((await runningBuilds()).map(({ id }) => id)).not.toContain(Number(build));
    expect((await attempt.finishes()).status).not.toBe(200);
    expect(await statusOfBuild(Number(build))).toBe("cancelled");
  });

  it("has a repository with a problem read again now", async () => {
    const fetched = vi.spyOn(globalThis, "fetch").mockRejectedValue(new Error("no network"));
    const other = { accountId: ops.accountId, type: "rpm-md" as const, baseSystem: "other", arches: [] };
    const row = { ...other, name: "Gone", url: "https://mirror.example.org/gone" };
    const id = (await addRepository(db, row, 99))?.id ?? 0;
    await env.DB.prepare("UPDATE repositories SET problem = 'no answer' WHERE id = ?").bind(id).run();
    expect(textOf(await pageOf(firefox.get("/service")), "[aria-labelledby=repositories]")).toContain("no answer");
    expect((await send(`/service/repositories/${id}/import`)).status).toBe(303);
    expect(textOf(await pageOf(firefox.get("/service")), "#result")).toBe("Gone is read again now.");
    expect((await operate("POST", `/repositories/${id}/import`)).status).toBe(200);
    expect((await send("/service/repositories/999999/import")).status).toBe(404);
    fetched.mockRestore();
  });

  it("shows everyone on each page why nothing can be changed", async () => {
    expect(await said("/")).toBe("");
    await send("/service/read_only", { mode: "on", message: "Kiln moves until <18:00>." });
    for (const path of ["/", "/sign_in", "/nothing"]) expect(await said(path)).toContain("Kiln moves until <18:00>.");
    await send("/service/read_only", { mode: "on", message: "" });
    expect(await said("/")).toContain("read-only mode");
    await send("/service/read_only", { mode: "off" });
    expect(await said("/")).toBe("");
    expect((await send("/service/read_only", { mode: "on", message: "x".repeat(301) })).status).toBe(422);
  });

  it("makes the service read-only, and ends that", async () => {
    await send("/service/read_only", { mode: "on" });
    expect(textOf(await pageOf(firefox.get("/service")), "[aria-labelledby=read-only]")).toContain("On since");
    expect(await (await operate("GET", "/read-only")).json()).toMatchObject({ on: true });
    await send("/service/read_only", { mode: "off" });
    expect(await (await operate("GET", "/read-only")).json()).toMatchObject({ on: false });
  });
});

describe("/service/accounts", () => {
  it("adds an account, whose password and key are shown once", async () => {
    const username = `new-${crypto.randomUUID().slice(0, 8)}`;
    const form = { form: "new-account", username, email: "new@example.org" };
    const made = await pageOf(send("/service/accounts", form));
    const [password, key] = [textOf(made, "#fresh-password"), textOf(made, "#fresh-key")];
    expect((await browser().signIn({ ...ops, username }, password)).status).toBe(303);
    expect(await statusOf(withKey({ ...ops, username }, key).get("/account"))).toBe(200);
    const again = await send("/service/accounts", form);
    expect([again.status, textOf(await pageOf(again), "#new-account [role=alert]")]).toEqual([
      422,
      `The name ${username} or its key is taken.`,
    ]);
    const wrong = await pageOf(send("/service/accounts", { ...form, username: "no name", email: "x" }));
    expect(wrong.querySelectorAll("#new-account .wrong")).toHaveLength(2);
    const { entries } = await (await operate("GET", `/audit?account=${username}`)).json<{ entries: object[] }>();
    expect(entries.at(-1)).toMatchObject({
      event: "account.created",
      actor: "operator",
      detail: { operator: ops.username },
    });
  });

  it("changes the quota, locks, unlocks and removes an account", async () => {
    const tux = await signedIn();
    const at = `/service/accounts/${tux.username}`;
    const found = () => findAccount(openDatabase(env), tux.username);
    await send(`${at}/quota`, { gb: "0.5" });
    expect((await found())?.quotaGb).toBe(0.5);
    expect((await send(`${at}/quota`, { gb: "-1" })).status).toBe(422);
    await send(`${at}/quota`, { gb: "" });
    expect((await found())?.quotaGb).toBeNull();
    await send(`${at}/lock`, { state: "locked" });
    expect(await statusOf(tux.get("/account"))).toBe(403);
    await send(`${at}/lock`, { state: "open" });
    expect(await statusOf(tux.get("/account"))).toBe(200);
    await bootableBuild(tux, { fileSize: 3_000_000_000 });
    const row = [...(await pageOf(firefox.get("/service/accounts"))).querySelectorAll("tbody tr")].find((each) =>
      each.textContent?.includes(tux.username),
    );
    expect(row?.textContent).toContain("3,000 MB");
    expect(textOf(await pageOf(firefox.get(at)), ".storage dd")).toBe("3,000 MB");
    expect((await send(`${at}/remove`)).headers.get("location")).toBe("/service/accounts");
    expect(await found()).toBeUndefined();
    expect(await statusOf(firefox.get(at))).toBe(404);
  });
});
