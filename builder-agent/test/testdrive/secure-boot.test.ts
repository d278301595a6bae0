import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeSecureFirmware, watchSecureBoot } from "../../src/testdrive/secure-boot.ts";
import { makeSessionDir } from "../../src/testdrive/session-dir.ts";
import { eventually, temporaryDir } from "../support/agent-place.ts";
import { startSession, type SessionOptions } from "./session.ts";

const signed: SessionOptions = { change: (claim) => ({ ...claim, hasSecureBoot: true }) };
const messagesOf = (session: Awaited<ReturnType<typeof startSession>>) =>
  session.service.said("preparing").map((report) => ("message" in report ? report.message : ""));

describe("a testdrive of an image with Secure Boot", () => {
  it("starts by a UEFI that has Secure Boot on, and says so", async () => {
    await using session = await startSession(signed);
    await session.ready();
    await eventually("the message", () => messagesOf(session).includes("Secure Boot is on in the firmware."));
    // OVMF looks for a boot loader on the disk, which has only a boot sector for BIOS.
    let output = "";
    await eventually("the firmware's own output", () => {
      void session.console().then((text) => (output = text));
      return output.includes("BdsDxe");
    });
    expect(output).not.toContain("KILN");
    expect(existsSync(join(session.path, "variables.fd"))).toBe(true);
  });

  it("starts by BIOS without it", async () => {
    await using session = await startSession();
    await session.ready();
    expect(existsSync(join(session.path, "variables.fd"))).toBe(false);
    expect(messagesOf(session).join()).not.toContain("Secure Boot");
  });
});

describe("makeSecureFirmware", () => {
  it("gives each session its own variables", async () => {
    await using state = await temporaryDir();
    await using dir = await makeSessionDir(state.path, 1);
    expect(await makeSecureFirmware(dir)).toContain("if=pflash,unit=1,format=raw,file=variables.fd");
    // UTF-16, as UEFI stores it.
    expect(readFileSync(dir.file("variables.fd")).includes(Buffer.from("SecureBootEnable", "utf16le"))).toBe(true);
  });

  it("is undefined if the host has no such firmware", async () => {
    await using state = await temporaryDir();
    await using dir = await makeSessionDir(state.path, 1);
    expect(await makeSecureFirmware(dir, { folder: state.path })).toBeUndefined();
    expect(existsSync(dir.file("variables.fd"))).toBe(false);
  });
});

/** The messages that the watcher passes on for the output of a console. */
function said(...chunks: string[]): string[] {
  const messages: string[] = [];
  const watch = watchSecureBoot((message) => messages.push(message));
  for (const chunk of chunks) watch(Buffer.from(chunk));
  return messages;
}

describe("watchSecureBoot", () => {
  it.each([
    ["EFI stub: UEFI Secure Boot is enabled.\r\n", "on"],
    ["[    0.000000] secureboot: Secure boot enabled\r\n", "on"],
    ["[    0.000000] secureboot: Secure boot disabled\r\n", "off"],
  ])("passes on what the kernel says in %j", (line, state) => {
    expect(said("noise\n", line)).toEqual([`The kernel reports that Secure Boot is ${state}.`]);
  });

  it("finds a line that comes in pieces, and says it once", () => {
    expect(said("x".repeat(1000), "EFI stub: UEFI Secure B", "oot is enab", "led.\n", "Secure boot disabled")).toEqual([
      "The kernel reports that Secure Boot is on.",
    ]);
  });

  it("says nothing without such a line", () => {
    expect(said("login: ", "Secure Boot could not be determined")).toEqual([]);
  });
});
