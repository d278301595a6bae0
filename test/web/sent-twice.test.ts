/** A form that is sent twice is done once. */
import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";
import { browser } from "../support/browser.ts";
import { signedIn } from "../support/client.ts";
import { bootableBuild, claimTestdrive, until } from "../support/testdrives.ts";

afterEach(() => vi.restoreAllMocks());

const liveTestdriveOf = (buildId: number) =>
  env.DB.prepare("SELECT id FROM testdrives WHERE build_id = ?").bind(buildId).first("id");

async function claimed(): Promise<object | undefined> {
  const { testdrive } = await (await claimTestdrive()).json<{ testdrive: object | null }>();
  return testdrive ?? undefined;
}

it("waits for the first request, but not forever, and then shows the same page", async () => {
  const tux = await signedIn();
  const firefox = browser();
  await firefox.beginSession(tux);
  const { id } = await bootableBuild(tux);
  const form = { form_token: await firefox.formToken(), once: crypto.randomUUID(), build_id: String(id) };
  let pauses = 0;
  const wait = scheduler.wait.bind(scheduler);
  vi.spyOn(scheduler, "wait").mockImplementation(async (ms, options) => {
    if (ms !== 250) return await wait(ms, options);
    pauses += 1;
  });

  const first = firefox.post("/testdrives", form); // until an agent claims it
  await until(async () => (await liveTestdriveOf(id)) ?? undefined);
  const second = await firefox.post("/testdrives", form);
  expect(await second.text()).toContain("This is still being done. Look again in a moment.");
  expect(pauses).toBe(40);

  await until(claimed);
  const third = await firefox.post("/testdrives", form);
  expect([(await first).status, third.status]).toEqual([303, 303]);
  expect(third.headers.get("location")).toBe((await first).headers.get("location"));
});
