import { globSync, readdirSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { completeCheck, portsOfChecks } from "../../src/contract.ts";
import type { Machine } from "../../src/testdrive/machine.ts";
import { eventually, processesIn } from "../support/agent-place.ts";
import { makePlace } from "./place.ts";

const yesterday = Date.now() / 1000 - 90_000;

type Place = Awaited<ReturnType<typeof makePlace>>;

/** Runs one session. Resolves when its snapshot exists. */
async function afterFirstSession(place: Place): Promise<string> {
  await using session = await place.startSession();
  await session.says("login: ");
  await place.snapshots.settled();
  const [snapshot] = globSync(join(place.cacheDir, "7", "*.snapshot"));
  if (snapshot === undefined) throw new Error(`no snapshot: ${place.logged.join(", ")}`);
  return snapshot;
}

describe("a snapshot of the booted guest", () => {
  it("is made after the first session, and the next one resumes it", async () => {
    await using place = await makePlace();
    const snapshot = await afterFirstSession(place);
    expect(readdirSync(snapshot).toSorted()).toEqual(["overlay.qcow2", "serial.log", "state"]);
    expect(readdirSync(place.cacheDir)).not.toContainEqual(expect.stringMatching(/^incoming/));

    await using second = await place.startSession();

    expect(place.logged).toEqual(["snapshot made", "started from a snapshot"]);
    // The guest has not booted: the console shows the snapshot's output, and the guest answers immediately.
    expect(await second.console()).toBe("login: ");
    await second.strike("a");
    await second.says("login: a1\0\n");
  });

  it("contains nothing that a session's user has typed or written", async () => {
    await using place = await makePlace();
    await using first = await place.startSession();
    await first.says("login: ");
    await first.strike("x");
    await first.says("login: x1\0\n");
    await place.snapshots.settled();

    await using second = await place.startSession();
    await second.strike("a");
    await second.strike("b");
    await second.says("login: a1\0\nb2a\n");
    await using third = await place.startSession();
    await third.strike("c");

    await third.says("login: c1\0\n");
    expect(place.logged.filter((event) => event === "started from a snapshot")).toHaveLength(2);
  });

  it("serves two sessions at the same time", async () => {
    await using place = await makePlace();
    await afterFirstSession(place);

    const [one, other] = await Promise.all([place.startSession(), place.startSession()]);

    await using both = new AsyncDisposableStack();
    both.use(one);
    both.use(other);
    await one.strike("a");
    await other.strike("b");
    await one.says("login: a1\0\n");
    await other.says("login: b1\0\n");
  });

  it.each<[string, (snapshot: string) => void]>([
    ["truncated", (snapshot) => truncateSync(join(snapshot, "state"), 5000)],
    ["of other content", (snapshot) => writeFileSync(join(snapshot, "state"), "no state at all")],
    ["without its disk's header", (snapshot) => writeFileSync(join(snapshot, "overlay.qcow2"), Buffer.alloc(512))],
    ["older than a day", (snapshot) => utimesSync(join(snapshot, "state"), yesterday, yesterday)],
  ])("that is %s is deleted, and the guest boots", async (_, spoil) => {
    await using place = await makePlace();
    const snapshot = await afterFirstSession(place);
    spoil(snapshot);
    await using spoilt = await open(join(snapshot, "state")); // prevents its inode from being reused

    await using second = await place.startSession();

    expect(place.logged).toEqual(["snapshot made", "snapshot not used"]);
    await second.says("login: ");
    await second.strike("a");
    await second.says("login: a1\0\n");
    await place.snapshots.settled();
    expect(statSync(join(snapshot, "state")).ino).not.toBe((await spoilt.stat()).ino);
  });

  it.each([
    ["another memory", { memoryMb: 96 }],
    ["a network", { hasNetwork: true }],
  ])("is not used for a machine with %s", async (_, change) => {
    await using place = await makePlace();
    await afterFirstSession(place);

    await using session = await place.startSession(change);

    await session.says("login: ");
    expect(place.logged).toEqual(["snapshot made"]);
  });

  it("is not made of a guest that never asks for a login", async () => {
    await using place = await makePlace({ says: "hello ", bootMs: 3_000 });
    await using session = await place.startSession();
    await session.says("hello ");
    await place.snapshots.settled();
    expect(place.logged).toEqual(["no snapshot"]);
    expect(readdirSync(place.cacheDir)).not.toContainEqual(expect.stringMatching(/^incoming/));
  });

  it("is not tried a fourth time if the guest never gets there", async () => {
    await using place = await makePlace({ says: "hello ", bootMs: 500 });
    for (let round = 0; round < 5; round++) {
      await using session = await place.startSession();
      await place.snapshots.settled();
      expect(session.qemu.pid).toBeGreaterThan(0);
    }
    expect(place.logged).toEqual(["no snapshot", "no snapshot", "no snapshot"]);
  });

  it("is not made if the operator disables snapshots", async () => {
    await using place = await makePlace({ snapshots: "off" });
    await using session = await place.startSession();
    await session.says("login: ");
    await place.snapshots.settled();
    expect(place.logged).toEqual([]);
  });

  it("leaves no process or directory if the agent stops meanwhile", async () => {
    await using place = await makePlace({ says: "wait " });
    await using session = await place.startSession();
    await session.says("wait ");
    const own = () =>
      [...processesIn(join(place.path, "testdrives")).values()].filter((line) => /^qemu.*-testdrive-0 /.test(line));
    await eventually("the machine of the snapshot", () => own().length === 1);

    place.stopping.abort();
    await place.snapshots.settled();

    expect(own()).toEqual([]);
    expect(readdirSync(join(place.path, "testdrives")).filter((name) => name.startsWith("snapshot-"))).toEqual([]);
  });
});

describe("a machine that is kept after its checks", () => {
  const checks = [completeCheck({ kind: "http" })];
  /** The devices that a machine with these checks has. */
  const devices = { hasNetwork: true, ports: portsOfChecks(checks), hasCommands: true };

  async function keptAfter(place: Place, keys: string[], change: Partial<Machine> = devices): Promise<boolean> {
    await using session = await place.startSession(change);
    await session.says("login: ");
    for (const key of keys) await session.strike(key);
    await session.says(`${keys.at(-1)}${keys.length}`);
    return await session.keep();
  }

  it("continues with its memory, its disk and its console", async () => {
    await using place = await makePlace();
    expect(await keptAfter(place, ["a", "b"])).toBe(true);

    await using session = await place.startSession(devices, { continuesAfter: checks });

    expect(await session.console()).toBe("login: a1\0\nb2a\n");
    await session.strike("c");
    await session.says("login: a1\0\nb2a\nc3b\n");
    expect(place.logged).toEqual(["machine kept"]);
  });

  it("is the one of the last checks, and can be continued again", async () => {
    await using place = await makePlace();
    await keptAfter(place, ["a"]);
    await keptAfter(place, ["b"]);
    await using first = await place.startSession(devices, { continuesAfter: checks });
    await first.strike("x");
    await first.says("login: b1\0\nx2b\n");

    await using second = await place.startSession(devices, { continuesAfter: checks });

    expect(await second.console()).toBe("login: b1\0\n");
    expect(keptIn(place)).toHaveLength(1);
  });

  it("does not boot in its place if there is none", async () => {
    await using place = await makePlace();
    const started = place.startSession(devices, { continuesAfter: checks });
    await expect(started).rejects.toThrow("The machine of these checks is no longer kept.");
    expect(place.logged.at(-1)).toBe("kept machine not used");
  });

  it.each<[string, (kept: string) => void]>([
    ["is older than a day", (kept) => utimesSync(join(kept, "state"), yesterday, yesterday)],
    ["was removed", (kept) => rmSync(kept, { recursive: true })],
  ])("does not boot in its place if it %s", async (_, spoil) => {
    await using place = await makePlace();
    await keptAfter(place, ["a"]);
    const [kept] = keptIn(place);
    spoil(kept ?? expect.fail("no machine is kept"));

    const started = place.startSession(devices, { continuesAfter: checks });

    await expect(started).rejects.toThrow("The machine of these checks is no longer kept.");
    expect(place.logged.at(-1)).toBe("kept machine not used");
  });

  it("is not continued by a session that boots", async () => {
    await using place = await makePlace();
    await keptAfter(place, ["a"], {});
    await place.snapshots.settled();

    await using session = await place.startSession();

    expect(place.logged.at(-1)).toBe("started from a snapshot");
    expect(await session.console()).toBe("login: ");
  });

  it("is not kept if the operator disables snapshots", async () => {
    await using place = await makePlace({ snapshots: "off" });
    expect(await keptAfter(place, ["a"])).toBe(false);
    expect(readdirSync(join(place.cacheDir, "7"))).toHaveLength(1);
  });
});

const keptIn = (place: Place): string[] => globSync(join(place.cacheDir, "7", "*.snapshot"));

describe("the picture of the booted guest's screen", () => {
  it("is taken if it is wanted, also for a session with a network", async () => {
    await using place = await makePlace();
    await using first = await place.startSession({ hasNetwork: true }, { wantsScreen: true });
    await first.says("login: ");
    await place.snapshots.settled();
    expect(place.logged).toEqual(["picture of the screen sent", "snapshot made"]);
    const [screen] = place.screens;
    expect(screen?.png.toString("latin1", 0, 4)).toBe("\x89PNG");
    // The text mode in which the machine starts.
    expect([screen?.png.readUInt32BE(16), screen?.png.readUInt32BE(20)]).toEqual([720, 400]);
    expect(place.screens).toHaveLength(1);
  });

  it("is taken of a new boot, and not of a session, if there is a snapshot", async () => {
    await using place = await makePlace();
    await afterFirstSession(place);
    await using second = await place.startSession({}, { wantsScreen: true });
    await second.strike("a");
    await place.snapshots.settled();
    expect(place.logged.slice(1)).toEqual(["started from a snapshot", "picture of the screen sent", "snapshot made"]);
  });

  it("is not needed for the snapshot", async () => {
    await using place = await makePlace({ refusesScreens: true });
    await using first = await place.startSession({}, { wantsScreen: true });
    await first.says("login: ");
    await place.snapshots.settled();
    expect(place.logged).toEqual(["picture of the screen not sent", "snapshot made"]);
  });
});
