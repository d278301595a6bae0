import { tmpdir } from "node:os";
import { describe, expect, it, vi } from "vitest";
import { FreeSpaceWatch } from "../../src/disk-room.ts";
import { BuildFailure } from "../../src/run/failure.ts";
import { Stopped, endReason } from "../../src/run/end-reason.ts";
import { eventually } from "../support/agent-place.ts";
import { smallDisk } from "../support/small-disk.ts";

const timeLimitMs = 14_400_000;
const theirs = new BuildFailure({ kind: "failed", reason: "Installation of kernel-default failed:" });

describe("the reason that a build has ended", () => {
  it.each([
    ["KIWI's error", theirs, "failed", "Installation of kernel-default failed:"],
    ["its time limit", new Stopped("time_limit"), "failed", "The build took longer than 240 minutes."],
    [
      "a disk below its reserve",
      new Stopped("no_room"),
      "error",
      "The disk of the builder was almost full, so it stopped the build.",
    ],
    ["a write to a full disk", new Error("ENOSPC: no space left on device, write"), "error", /disk .* is full/],
    ["a missing program", new Error("spawn tar ENOENT"), "error", "The program tar is missing on the builder."],
    ["anything else", new TypeError("x is not a function"), "error", "x is not a function"],
  ] as const)("can be %s", async (_, why, kind, reason) => {
    using space = new FreeSpaceWatch(tmpdir());
    const said = await endReason(why, { timeLimitMs, space });

    expect(said).toEqual({ kind, reason: typeof reason === "string" ? reason : expect.stringMatching(reason) });
  });

  it("is the full disk, whatever KIWI reports", async () => {
    await using disk = await smallDisk(128);
    using space = new FreeSpaceWatch(disk.stateDir);
    const ask = () => endReason(theirs, { timeLimitMs, space });

    expect(await ask()).toMatchObject({ kind: "failed" });
    disk.fill(120);
    expect(await ask()).toEqual({ kind: "error", reason: "The disk of the builder is full." });
  });

  it("is the full disk even if KIWI has freed it again", async () => {
    await using disk = await smallDisk(128);
    using space = new FreeSpaceWatch(disk.stateDir);
    const looks = vi.spyOn(space, "least");

    disk.fill(120);
    await eventually("it looks", () => looks.mock.settledResults.some(({ value }) => value < 64e6));
    disk.empty();

    expect(await endReason(theirs, { timeLimitMs, space })).toMatchObject({ reason: expect.stringMatching(/is full/) });
  });

  it("is known even if the disk cannot be checked", async () => {
    using space = new FreeSpaceWatch("/not-there");
    expect(await endReason(theirs, { timeLimitMs, space })).toMatchObject({ kind: "failed" });
  });
});
