import { expect, it, vi } from "vitest";
import { runVitest } from "../../scripts/test/vitest.ts";

it("ends a run that hangs, counts its results, names the test", async () => {
  vi.spyOn(process.stdout, "write").mockReturnValue(true); // the output of the inner run
  const config = "test/scripts/hanging/vitest.config.ts";
  const tally = await runVitest("hanging", {
    isInBackground: false,
    args: [],
    env: process.env,
    show: "when it ends",
    quietSeconds: 8,
    config,
  });

  expect(tally).toEqual({
    passed: 1,
    failures: [
      expect.stringMatching(/^hangs\.ts: fails: one is two/),
      "hangs.ts: never ends: hung: nothing began or ended in 8 seconds",
    ],
  });
});
