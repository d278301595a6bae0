/** The stream that keeps the page of an appliance's builds up to date. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { unmasked } from "#domain/secrets";
import { browser } from "../../support/browser.ts";
import { rowOfBuild } from "../../support/builds.ts";
import { signedIn, type Client } from "../../support/client.ts";
import { listenerOf } from "../../support/events.ts";
import { createAppliance, createBuild, startBuild } from "../../support/factories.ts";
import { fakeAgent } from "../../support/fake-agent.ts";
import { pageOf, parseHtml, textOf } from "../../support/html.ts";
import { runningBuild } from "../../support/running-build.ts";
import { isD1, withFate } from "../../support/storage-faults.ts";
import { stopClock } from "../../support/clock.ts";

let tux: Client;
let firefox: ReturnType<typeof browser>;
beforeEach(async () => {
  tux = await signedIn();
  firefox = browser();
  await firefox.beginSession(tux);
});
afterEach(() => void vi.useRealTimers());

const builds = async (id: number) => await pageOf(firefox.get(`/appliance/${id}/build`));

function bodyOf({ body }: Response): ReadableStream<Uint8Array> {
  return body ?? expect.fail("no body");
}

describe("the stream of the build page", () => {
  it("sends the page how far its builds are, without a query for each percent", async () => {
    const { buildId, attempt } = await runningBuild(tux);
    const id = (await rowOfBuild(buildId)).applianceId;
    const { block, close } = listenerOf(bodyOf(await firefox.get(`/appliance/${id}/live`)));
    const parts = async () =>
      parseHtml((await block())?.replace(/^event: parts\n/, "").replaceAll(/^data: /gm, "") ?? "");
    expect(textOf(await parts(), "#tab-build")).toBe("Build 0 %");
    await attempt.beats({ percent: 40 }); // the first one of a minute updates the row
    expect(textOf(await parts(), "#tab-build")).toBe("Build 40 %");
    const tokenOfSession = await firefox.formToken();
    const queries: string[] = [];
    await withFate(
      async (name, call) => {
        if (isD1(name)) queries.push(name);
        return await call();
      },
      async () => {
        await attempt.beats({ percent: 41, message: "Installing <b>busybox</b>" });
        const page = await parts();
        expect(page.title).toBe("41 % · Build · Kiosk · Kiln");
        expect(textOf(page, "#status")).toBe("Building 41 %");
        expect(textOf(page, "#tab-build")).toBe("Build 41 %");
        expect(textOf(page, "#running")).toContain("Installing <b>busybox</b>");
        const cancel = page.querySelector(`form[action="/appliance/${id}/builds/${buildId}/cancel"]`);
        const formToken = cancel?.querySelector("input[name=form_token]")?.getAttribute("value");
        expect(unmasked(formToken ?? "")).toBe(unmasked(tokenOfSession));
      },
    );
    expect(queries).toEqual([]);
    await close();
  });

  it("follows a build that starts later, after the browser has connected again", async () => {
    stopClock();
    const { applianceId: id } = await createBuild(tux);
    await startBuild(tux, id, { version: "0.0.1", image_type: "iso" });
    const first = await firefox.get(`/appliance/${id}/live`);
    const told = first.text();
    const later = await startBuild(tux, id, { version: "0.0.1", force: "true" });
    vi.setSystemTime(Date.now() + 15_000);
    await (await fakeAgent()).claimsBuild(later); // claims the first one, too

    expect(await told).not.toContain("event: end");
    const { block, close } = listenerOf(bodyOf(await firefox.get(`/appliance/${id}/live`)));
    expect(await block()).toContain("0.0.1 oem");
    await close();
  });

  it("sends the page what has changed until nothing runs", async () => {
    const id = await createAppliance(tux);
    const buildId = await startBuild(tux, id);
    const answer = await firefox.get(`/appliance/${id}/live`);
    expect(answer.headers.get("content-type")).toMatch(/^text\/event-stream/);
    const told = answer.text();

    await tux.delete(`/running_builds/${buildId}`);

    expect(await told).toMatch(
      /^event: parts\n[^]*\n\nevent: look\ndata: running status tab-build build-button appliance-title size new-build-version ended failed finished again-place result\n\nevent: end\ndata:\n\n$/,
    );
    const page = await builds(id);
    for (const part of ["#appliance-title", "#size", "#new-build-version"])
      expect(page.querySelector(part), part).not.toBeNull();
  });
});
