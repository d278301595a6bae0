/** The checks of an image on the build's page, and their form. */
import { eq } from "drizzle-orm";
import { expect, it } from "vitest";
import { completeCheck } from "#lib/contract/index";
import { browser } from "../../support/browser.ts";
import { signedIn } from "../../support/client.ts";
import { createBuild } from "../../support/factories.ts";
import { hiddenFields, pageOf, textOf } from "../../support/html.ts";
import { db } from "../../support/testdrives.ts";
import { checkRuns } from "#storage/schema";

it("takes from the form what the kind of a check uses, also when the kind changes", async () => {
  const tux = await signedIn();
  const firefox = browser();
  await firefox.beginSession(tux);
  const { applianceId } = await createBuild(tux);
  const at = `/appliance/${applianceId}/configuration/checks`;
  const fields = { command: "id -un", exit: "", text: "root", port: "80", path: "/", status: "200", megabytes: "400" };
  const add = { form_token: await firefox.formToken(), kind: "command", ...fields, seconds: "" };
  expect((await firefox.post(`${at}/entries`, add)).status).toBe(303);

  const page = await pageOf(firefox.get(at));
  expect(textOf(page, ".rows")).toContain("The command “id -un” ends with exit code 0 and writes “root” within 300 s.");
  const entry = page.querySelector(".rows [name=entry]")?.getAttribute("value") ?? "";
  const change = { ...add, form_token: await firefox.formToken(), entry, kind: "disk", path: "/srv" };
  expect((await firefox.post(`${at}/entries`, change)).status).toBe(303);
  expect(textOf(await pageOf(firefox.get(at)), ".rows")).toContain("At most 400 MB are used where /srv is stored.");
});

it("shows what failed, as text, and starts another run", async () => {
  const tux = await signedIn();
  const firefox = browser();
  await firefox.beginSession(tux);
  const { applianceId, buildId } = await createBuild(tux);
  const at = `/appliance/${applianceId}`;
  const form = { form_token: await firefox.formToken(), kind: "port_open", port: "80", seconds: "20" };
  await firefox.post(`${at}/configuration/checks/entries`, form);
  expect(textOf(await pageOf(firefox.get(`${at}/configuration/checks`)), ".rows")).toContain(
    "Port 80 accepts connections within 20 s.",
  );
  const now = new Date();
  await db.insert(checkRuns).values({
    accountId: tux.accountId,
    buildId,
    state: "failed",
    checks: [completeCheck({ kind: "port_open", port: 80, seconds: 20 })],
    results: [{ outcome: "failed", seen: "<b>refused</b>", seconds: 20 }],
    console: "<script>alert(1)</script>",
    isMachineKept: true,
    createdAt: now,
    endedAt: now,
    wakeAt: now,
  });

  const failed = await pageOf(firefox.get(`${at}/build`));
  expect(textOf(failed, `#checks-${buildId} tbody`)).toBe(
    "failedPort 80 accepts connections within 20 s.<b>refused</b>",
  );
  expect(failed.querySelector(`#checks-${buildId} b, #checks-${buildId} script`)).toBeNull();
  expect(textOf(failed, `#checks-${buildId} pre`)).toBe("<script>alert(1)</script>");
  const seeIt = failed.querySelector(`#checks-${buildId} form[action='/testdrives']`);
  const [run] = await db.select().from(checkRuns).where(eq(checkRuns.buildId, buildId));
  expect(hiddenFields(seeIt)).toMatchObject({ build_id: String(buildId), check_run: String(run?.id) });
  await db.update(checkRuns).set({ endedAt: new Date(now.getTime() - 25 * 60 * 60_000) });
  const later = await pageOf(firefox.get(`${at}/build`));
  expect(later.querySelector(`#checks-${buildId} form[action='/testdrives']`)).toBeNull();

  const again = { form_token: await firefox.formToken() };
  expect((await firefox.post(`${at}/builds/${buildId}/checks`, again)).status).toBe(303);
  const page = await pageOf(firefox.get(`${at}/build`));
  expect(textOf(page, `#checks-${buildId}`)).toContain("waiting for a builder");
});
