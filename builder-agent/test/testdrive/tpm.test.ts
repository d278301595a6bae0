import { existsSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { makeSessionDir } from "../../src/testdrive/session-dir.ts";
import { startTpm } from "../../src/testdrive/tpm.ts";
import { eventually, temporaryDir } from "../support/agent-place.ts";
import { startSession } from "./session.ts";

const { signal } = new AbortController();
const messagesOf = (session: Awaited<ReturnType<typeof startSession>>) =>
  session.service.said("preparing").map((report) => ("message" in report ? report.message : ""));

describe("a testdrive of an image with Secure Boot", () => {
  it("has a TPM of its own, which QEMU has started, and nothing of it is left", async () => {
    const session = await startSession({ change: (claim) => ({ ...claim, hasSecureBoot: true }) });
    await session.ready();
    await eventually("the message", () => messagesOf(session).includes("Secure Boot is on in the firmware."));
    // swtpm creates its state after QEMU has opened it and the firmware has sent its first command.
    await eventually("the state", () => existsSync(join(session.path, "tpm/tpm2-00.permall")));
    await session[Symbol.asyncDispose]();
    expect(existsSync(session.path)).toBe(false);
  });
});

describe("startTpm", () => {
  it("ends the process with the session", async () => {
    await using state = await temporaryDir();
    await using dir = await makeSessionDir(state.path, 1);
    const tpm = await startTpm(dir, signal);
    const isThere = () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(dir.socket("tpm/swtpm.sock"));
        socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
        socket.once("connect", () => socket.destroy());
      });
    expect(await isThere()).toBe(true);
    await tpm?.[Symbol.asyncDispose]();
    // The sandbox has ended. Its process may take a moment longer.
    await vi.waitUntil(async () => !(await isThere()), { timeout: 120_000 });
  });

  it("is undefined if the host has no such program", async () => {
    await using state = await temporaryDir();
    await using dir = await makeSessionDir(state.path, 1);
    expect(await startTpm(dir, signal, "swtpm-that-is-not-there")).toBeUndefined();
  });
});
