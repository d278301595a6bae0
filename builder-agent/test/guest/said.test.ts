import { describe, expect, it } from "vitest";
import { Said } from "../../src/guest/guest-kiwi.ts";
import { RootShare } from "../../src/prepared/share.ts";
import { silent } from "../support/agent-place.ts";

function saidTo(share?: RootShare) {
  const said = new Said({ onLine: silent, onPhase: silent, ...(share && { share }) });
  return { listeners: said.listeners, check: () => said.check() };
}

/** The result of a build whose guest has reported these values, with these lines in its log. */
function reasonAfter(words: Record<string, string>, lines: string[] = [], share?: RootShare): unknown {
  const { listeners, check } = saidTo(share);
  for (const line of lines) listeners.onLine(line);
  for (const [word, rest] of Object.entries(words)) listeners.onStatus(word, rest);
  try {
    check();
    return "well";
  } catch (error) {
    return error;
  }
}

/** A share that was given a prepared root, or none. */
async function shareOf(what: "given" | "none"): Promise<RootShare> {
  const roots = {
    lock: () => Promise.resolve(silent),
    take: () => Promise.resolve(what === "given"),
    put: () => Promise.resolve(),
    forget: () => Promise.resolve(),
    free: () => Promise.resolve(),
  };
  const signal = new AbortController().signal;
  return await RootShare.join({ roots, key: "k", workDir: "/nowhere", signal, onNote: silent });
}

const well = { index: "0", prepare: "0", create: "0", result: "0 0", job: "0" };
const problem = "[ ERROR   ]: 13:46:09 | KiwiBootStrapPhaseFailed: Bootstrap package installation failed: no bash";
const full = "[ DEBUG   ]: 13:46:09 | bootstrap: error: cpio: write failed - No space left on device";

const fullVolume =
  '[ ERROR   ]: 18:40:07 | KiwiCommandError: rsync: stderr: rsync: [receiver] write failed on "/build/temp/kiwi_volumes.2lvnx8c4/usr/lib/GBK.so": No space left on device (28)';

describe("what a guest reports", () => {
  it("is a success if every step is", () => {
    expect(reasonAfter(well)).toBe("well");
  });

  it.each([
    ["empty", {}, [], "failed", /ended before the build/],
    ["only a start", { up: "6.1" }, [], "failed", /ended before the build/],
    ["a failure of KIWI", { index: "0", prepare: "1", job: "1" }, [problem], "failed", /no bash/],
    [
      "a full disk",
      { index: "0", prepare: "1", job: "1" },
      [full, problem],
      "failed",
      /more than its disk limit allows/,
    ],
    ["without KIWI's create step", { index: "0", prepare: "0", job: "0" }, [], "error", /exit code/],
    ["a result that does not fit", { ...well, result: "0 1", job: "1" }, [], "failed", /larger than a build/],
    ["a failed package index", { index: "1", job: "1" }, [], undefined, /createrepo_c/],
  ])("is a failure if it is %s", (...[, words, lines, kind, message]) => {
    const error = reasonAfter(words, lines);
    expect(error).toMatchObject({ message: expect.stringMatching(message) });
    if (kind !== undefined) expect(error).toMatchObject({ kind });
  });

  it("is an image too large for the disk that KIWI fills", () => {
    const { listeners, check } = saidTo();
    for (const step of ["index", "prepare"]) listeners.onStatus(step, "0");
    listeners.onLine(fullVolume);
    for (const step of ["create", "job"]) listeners.onStatus(step, "1");
    expect(check).toThrow("The image does not fit on its disk, or on one of its volumes.");
  });

  it("needs no preparation with a prepared root", async () => {
    const share = await shareOf("given");
    const restored = { restore: "0", create: "0", result: "0 0", job: "0" };
    expect(reasonAfter(restored, [], share)).toBe("well");
    expect(reasonAfter({ restore: "2", complaint: "tar: no", job: "1" }, [], share)).toMatchObject({
      message: "the prepared root could not be unpacked: tar: no",
    });
    expect(reasonAfter({ ...restored, create: "1", job: "1" }, [], share)).toMatchObject({
      message: expect.stringMatching(/exit code 1/),
    });
    expect(reasonAfter(restored, [], await shareOf("none"))).toMatchObject({
      message: expect.stringMatching(/createrepo_c/),
    });
  });

  it("enters the second phase when the tree is prepared", () => {
    const phases: string[] = [];
    const said = new Said({ onLine: silent, onPhase: (phase) => void phases.push(phase) });
    said.listeners.onStatus("prepare", "1");
    expect(phases).toEqual([]);
    said.listeners.onStatus("prepare", "0");
    expect(phases).toEqual(["Creating the image"]);
  });
});
