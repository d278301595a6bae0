/** An appliance with a window is rebuilt only within the window. */
import { beforeEach, describe, expect, it } from "vitest";
import { DebianAppliance, hourMs, securityUpdate } from "../support/debian-appliance.ts";

let debian: DebianAppliance;
let presentHour: number;
beforeEach(async () => {
  presentHour = Math.floor(Date.now() / hourMs) * hourMs;
  debian = await DebianAppliance.create();
});

/** An hour that begins this many hours from now. */
const windowIn = (hours: number) => `${hourOf(hourIn(hours))}-${hourOf(hourIn(hours + 1))}`;
const hourOf = (at: number) => new Date(at).toISOString().slice(11, 16);
/** The start of the hour that is this many hours from now. */
const hourIn = (hours: number) => presentHour + hours * hourMs;
const outdated = async (window: string) => {
  await debian.configure({ settings: { automatic_builds: "security", automatic_builds_at: window } });
  const buildId = await debian.build();
  await debian.mirror.publish({ security: securityUpdate });
  return buildId;
};
const waits = async (buildId: number) => {
  const answer = await debian.tux.get(`/builds/${buildId}/updates`, { headers: { accept: "application/json" } });
  return (await answer.json<{ updates: { automatic_build_waits_until?: string } }>()).updates
    .automatic_build_waits_until;
};

describe("an appliance with a window", () => {
  it("waits for it, says until when, and begins in it", async () => {
    const buildId = await outdated(windowIn(3));
    await debian.look();
    expect(await debian.automaticBuilds()).toEqual([]);
    expect(Date.parse((await waits(buildId)) ?? "")).toBe(hourIn(3));

    await debian.look(hourIn(3) - Date.now());
    await debian.automaticBuild();
    expect(await waits(buildId)).toBeUndefined();
  });

  it("looks again when it opens", async () => {
    await outdated(windowIn(1));
    await debian.look(hourIn(1) - Date.now() - 60_000);
    expect((await debian.watch())?.lookAt.getTime()).toBe(hourIn(1));
  });

  it("waits for the next one if nobody looked in it", async () => {
    await outdated(windowIn(3));
    await debian.look(hourIn(4) - Date.now());
    expect(await debian.automaticBuilds()).toEqual([]);
    await debian.look(hourIn(27) - Date.now());
    await debian.automaticBuild();
  });

  it("begins immediately if it is changed to the present, or removed", async () => {
    await outdated(windowIn(3));
    await debian.look();
    await debian.configure({ settings: { automatic_builds_at: "" } });
    expect((await debian.watch())?.lookAt.getTime()).toBeLessThanOrEqual(Date.now());
    await debian.look();
    await debian.automaticBuild();
  });

  it("does not hold up a person's build", async () => {
    await outdated(windowIn(3));
    expect(await debian.startBuild()).toBeGreaterThan(0);
  });
});
