import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { aliveEveryMs, sessionLeaseMs } from "#lib/contract/index";
import page from "../../docs/operations/cost.md?raw";
import { signedIn } from "../support/client.ts";
import { stopClock } from "../support/clock.ts";
import { objectOf, report, runningDrive, statusOf, until } from "../support/testdrives.ts";

beforeEach(stopClock);
afterEach(() => void vi.useRealTimers());

interface Heard {
  state: { agentHeardAt: number };
}

it("a sign of life writes the session's state, and moves no alarm, which finds out when it comes", async () => {
  const drive = await runningDrive(await signedIn());
  const object = objectOf(drive);
  const heardAt = () =>
    runInDurableObject(object, (_, { storage }) => storage.kv.get<Heard>("session")?.state.agentHeardAt);
  const spies = await runInDurableObject(object, (_, { storage }) => ({
    put: vi.spyOn(storage.kv, "put"),
    alarm: vi.spyOn(storage, "setAlarm"),
  }));
  const now = Date.now() + aliveEveryMs;
  vi.setSystemTime(now);
  report(drive.control, { type: "alive" });
  await until(async () => ((await heardAt()) === now ? true : undefined));

  expect(spies.put.mock.calls.filter(([key]) => key === "session")).toHaveLength(1);
  expect(spies.alarm).not.toHaveBeenCalled();
  expect(page).toContain("A testdrive writes one row every ten seconds.");

  await runDurableObjectAlarm(object);
  expect((await statusOf(drive)).state).toBe("running");
  const next = await runInDurableObject(object, (_, { storage }) => storage.getAlarm());
  expect(next).toBeGreaterThan(now);
  expect(next).toBeLessThanOrEqual(now + sessionLeaseMs);
});
