import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { signedIn } from "../support/client.ts";
import { listen } from "../support/events.ts";
import { createBuild } from "../support/factories.ts";
import { publish } from "../support/gallery.ts";
import { sweepIn } from "../support/sweep.ts";

const runSweep = () => sweepIn(0);
const waiting = () => env.DB.prepare("SELECT count(*) AS rows FROM event_outbox").first<number>("rows");
const renameWebhooks = (from: string, to: string) => env.DB.prepare(`ALTER TABLE ${from} RENAME TO ${to}`).run();

it("stores a publication's event until the sweep delivers it once", async () => {
  const tux = await signedIn();
  const { applianceId } = await createBuild(tux);
  // The account's object cannot store anything.
  await renameWebhooks("webhooks", "webhooks_away");
  const complaint = vi.spyOn(console, "error").mockImplementation(() => {});
  expect((await publish(tux, applianceId)).status).toBe(200);
  await runSweep();
  await renameWebhooks("webhooks_away", "webhooks");
  expect(complaint).toHaveBeenCalledWith(
    expect.stringMatching(/could not announce an event requestId=\S+ key=".* version\.published"/),
  );
  complaint.mockRestore();
  expect(await waiting()).toBe(1);
  const listener = await listen(tux);

  await runSweep();
  await runSweep();

  expect(await waiting()).toBe(0);
  expect(await listener.next()).toMatchObject({
    event: "version.published",
    data: { version: { appliance_id: applianceId, version: "0.0.1" } },
  });
  await listener.close();
});

it("is empty after a publication that was announced or refused", async () => {
  const tux = await signedIn();
  const { applianceId } = await createBuild(tux);

  await Promise.all([publish(tux, applianceId), publish(tux, applianceId), publish(tux, applianceId)]);

  expect(await waiting()).toBe(0);
  const listener = await listen(tux, "0");
  const seen = [];
  for (let nth = 0; nth < 4; nth += 1) seen.push((await listener.next()).event);
  expect(seen.filter((event) => event === "version.published")).toHaveLength(1);
  await listener.close();
});
