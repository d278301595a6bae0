import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { importWith } from "./import-with.ts";

const answers = vi.fn<(host: string) => Promise<unknown>>();
const { debianFor } = await importWith(() => import("../../scripts/launch/debian.ts"), {
  "node:dns/promises": () => ({ lookup: answers }),
  // The waits between two lookups end immediately, and the clock moves instead.
  "node:timers/promises": () => ({ setTimeout: async (ms: number) => void vi.setSystemTime(Date.now() + ms) }),
});
let warned = "";

beforeEach(() => {
  warned = "";
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.spyOn(process.stderr, "write").mockImplementation((line) => Boolean((warned += String(line))));
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const debian = () =>
  debianFor({ withDebian: true, debianMirror: "http://mirror.lan/debian" }, () => false, new AbortController().signal);

describe("debianFor", () => {
  it("asks again if DNS is later than Kiln", async () => {
    answers.mockRejectedValueOnce(new Error("ENOTFOUND")).mockResolvedValue([{ address: "10.1.2.3", family: 4 }]);

    expect((await debian())?.hosts).toEqual({ names: ["mirror.lan:80"], cidrs: ["10.1.2.3/32"] });
    expect(warned).toBe("");
  });

  it("gives up after some seconds, and says what does not work", async () => {
    answers.mockReset().mockRejectedValue(new Error("ENOTFOUND"));

    expect(await debian()).toBeUndefined();
    expect(answers).toHaveBeenCalledTimes(6);
    expect(warned).toContain("The mirror of Debian, mirror.lan, has no address.");
  });
});
