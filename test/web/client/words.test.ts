import { describe, expect, it } from "vitest";
import { clock, wordsFor, type ConsoleState } from "../../../src/web/client/words.ts";
import { startOf, type TestdriveStatus } from "../../../src/web/pages/testdrive/status.ts";

const status = (state: TestdriveStatus["state"], message = ""): TestdriveStatus => ({
  state,
  message,
  secondsLeft: null,
  viewers: 0,
});

describe("wordsFor", () => {
  it.each<[TestdriveStatus | undefined, ConsoleState, string]>([
    [undefined, "closed", "Connecting …"],
    [status("waiting"), "closed", "Waiting for a builder …"],
    [status("preparing", "Fetching the image"), "connecting", "Preparing: Fetching the image …"],
    [status("running"), "connecting", "Connecting …"],
    [status("running"), "connected", "Connected"],
    [status("running", "It was started again."), "connected", "Connected. It was started again."],
    [status("running"), "lost", "Connection lost. Trying again …"],
    [status("ended", "You stopped it."), "lost", "Ended: You stopped it."],
  ])("for %o with a screen %s shows: %s", (session, screen, text) => {
    expect(wordsFor(session, screen).text).toBe(text);
  });
});

describe("clock", () => {
  it.each([
    [0, "0:00"],
    [7, "0:07"],
    [59 * 60 + 7, "59:07"],
    [3_600, "1:00:00"],
    [3_723, "1:02:03"],
  ])("writes %i seconds as %s", (seconds, text) => {
    expect(clock(seconds)).toBe(text);
  });
});

describe("startOf", () => {
  it.each<[TestdriveStatus, number, number | undefined]>([
    [status("waiting"), 0, undefined],
    [status("preparing", "Fetching the image"), 1, undefined],
    [status("preparing", "Fetching the image (61 %)"), 1, 61],
    [status("preparing", "Unpacking the image"), 1, undefined],
    [status("preparing", "Starting the virtual machine"), 2, undefined],
    [status("running"), 2, undefined],
  ])("of %o is stage %i, at %s percent", (session, stage, percent) => {
    expect(startOf(session)).toEqual({ stage, percent });
  });
});
