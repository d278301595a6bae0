import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../support/agent-place.ts";
import { startSession } from "./session.ts";

it("starts a machine for arm64 by its UEFI, with a screen for its viewers", async () => {
  await using session = await startSession({ change: (claim) => ({ ...claim, arch: "aarch64" }) });
  await session.ready();
  // The disk has only a boot sector, for the BIOS of a PC.
  let output = "";
  await eventually("the firmware's own output", () => {
    void session.console().then((text) => (output = text));
    return output.includes("UEFI firmware");
  });
  expect(output).not.toContain("KILN");
  expect(existsSync(join(session.path, "variables.fd"))).toBe(true);
  expect(session.service.said("preparing").map(({ type }) => type)).not.toContain("stopped");
});
