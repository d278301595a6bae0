import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { killOrphans } from "../../src/testdrive/orphans.ts";
import { eventually } from "../support/agent-place.ts";
import { ownPort } from "../support/ports.ts";
import { findQemu, getQemu } from "./find-qemu.ts";
import { openVnc } from "./rfb.ts";
import { bootSector, password, startSession } from "./session.ts";

describe("runTestdrive", () => {
  it("downloads, unpacks and boots the disk, and logs its console", async () => {
    await using session = await startSession();
    await session.ready();
    let output = "";
    await eventually("the console", () => {
      void session.console().then((text) => (output = text));
      return output.includes("KILN");
    });
    expect(session.service.ranges).toEqual([0]);
    const messages = session.service.said("preparing").map((report) => ("message" in report ? report.message : ""));
    expect(messages).toContain("Fetching the image (100 %)");
    expect(messages).toContain("Unpacking the image");
  });

  it("boots a medium without an overlay", async () => {
    await using session = await startSession({
      image: Buffer.alloc(1024 * 1024),
      change: (claim) => ({
        ...claim,
        imageType: "iso",
        image: { ...claim.image, fileName: "a.iso", compressed: false },
      }),
    });
    await session.ready();
    expect(readdirSync(session.path).toSorted()).toEqual(["qmp.sock", "serial.log", "vnc.sock"]);
  });

  it("gives each of two viewers a new RFB connection", async () => {
    await using session = await startSession();
    await session.ready();
    const [first, second] = await Promise.all([
      session.service.openViewer("credit-1"),
      session.service.openViewer("plain-2"),
    ]);
    for (const viewer of [first, second]) {
      await eventually("RFB's greeting", () => viewer.bytes.length === 12);
      expect(String(viewer.bytes)).toBe("RFB 003.008\n");
    }
    first.socket.close();
    second.socket.send(Buffer.from("RFB 003.008\n"));
    await eventually("the security types of the other", () => hasSecurityTypes(second.bytes));
    // The unix socket requires no password: the Worker has already authorized its users.
    expect([...second.bytes.subarray(12)]).toEqual([1, 1]);
  });

  it("serves VNC clients over TCP with the session's password", async () => {
    await using session = await startSession({ ports: [ownPort(0), ownPort(4)] });
    await session.ready();
    const port = session.reserved?.port ?? 0;
    await expect(openVnc("127.0.0.1", port, "wrong123")).rejects.toThrow("refused");
    const client = await openVnc("127.0.0.1", port, password);
    expect(client.width).toBeGreaterThan(100);
    await eventually("one client", () => session.service.said("tcp_viewers").length === 1);
    client.socket.destroy();
    await eventually("none", () => session.service.said("tcp_viewers").length === 2);
    expect(session.service.said("tcp_viewers")).toEqual([
      { type: "tcp_viewers", count: 1 },
      { type: "tcp_viewers", count: 0 },
    ]);
  });

  it("accepts a VNC client that connected before QEMU started", async () => {
    await using session = await startSession({ ports: [ownPort(5), ownPort(9)] });
    expect(session.service.said("ready")).toEqual([]);
    const client = await openVnc("127.0.0.1", session.reserved?.port ?? 0, password);
    expect(client.height).toBeGreaterThan(100);
    client.socket.destroy();
  });

  it("runs QEMU without privileges, network or secrets in its arguments", async () => {
    await using session = await startSession({ ports: [ownPort(10), ownPort(14)] });
    await session.ready();
    const pid = getQemu(session.path);
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    expect(/^Uid:\s+(\d+)/m.exec(status)?.[1]).not.toBe("0");
    expect(/^CapEff:\s+0+$/m.test(status)).toBe(true);
    expect(/^NoNewPrivs:\s+1$/m.test(status)).toBe(true);
    expect(/^Seccomp:\s+2$/m.test(status)).toBe(true);
    expect(command.join(" ")).toContain("-nic none");
    expect(command.join(" ")).not.toContain(password);
    expect(existsSync(`${session.path}/vnc.password`)).toBe(false);
    expect(statSync(session.path).mode & 0o777).toBe(0o700);
  });

  it("works if its path is too long for a unix socket", async () => {
    await using session = await startSession({ stateName: `${"long/".repeat(30)}state` });
    await session.ready();
    const viewer = await session.service.openViewer("plain-1");
    await eventually("RFB's greeting", () => viewer.bytes.length === 12);
  });

  it("ends on request, cleans up, and reports the reason", async () => {
    await using session = await startSession({ ports: [ownPort(15), ownPort(15)] });
    await session.ready();
    const viewer = await session.service.openViewer("credit-1");
    const pid = getQemu(session.path);
    session.service.order({ type: "stop", reason: "No one was connected for 60 seconds." });
    await session.ended;
    expect(existsSync(`/proc/${pid}`)).toBe(false);
    expect(existsSync(session.path)).toBe(false);
    await eventually("the viewer's close", () => viewer.closed);
    await eventually("the reason", () => session.reason().length > 0);
    expect(session.reason()).toEqual(["No one was connected for 60 seconds."]);
    const socket = connect({ host: "127.0.0.1", port: ownPort(15) });
    const refused = await new Promise((resolve) => socket.on("error", resolve).on("connect", resolve));
    expect(refused).toMatchObject({ code: "ECONNREFUSED" });
  });

  it("ends when the agent stops", async () => {
    await using session = await startSession();
    await session.ready();
    session.stopping.abort();
    await session.ended;
    await eventually("the reason", () => session.reason().length > 0);
    expect(session.reason()).toEqual(["The builder agent is stopping."]);
    expect(findQemu(session.path)).toBeUndefined();
  });

  it("ends when the appliance powers off", async () => {
    // ACPI: out 0x604, 0x2000
    await using session = await startSession({ sector: bootSector("ba0406 b80020 ef f4") });
    await session.ended;
    await eventually("the reason", () => session.reason().length > 0);
    expect(session.reason()).toEqual(["The appliance switched itself off."]);
  });

  it("continues when the appliance restarts", async () => {
    // out 0x3f8, 'R'; the keyboard controller's reset: out 0x64, 0xfe
    await using session = await startSession({ sector: bootSector("baf803 b052 ee b0fe e664 f4") });
    let output = "";
    await eventually("three starts", () => {
      void session.console().then((text) => (output = text));
      return output.includes("RRR");
    });
    expect(session.reason()).toEqual([]);
  });

  it("lets an early viewer wait for the virtual machine", async () => {
    await using session = await startSession();
    await eventually("the control socket", () => session.service.controls.length > 0);
    expect(session.service.said("ready")).toEqual([]);
    const viewer = await session.service.openViewer("credit-1");
    await eventually("RFB's greeting", () => String(viewer.bytes) === "RFB 003.008\n");
  });

  it("ends when the virtual machine does", async () => {
    await using session = await startSession();
    await session.ready();
    process.kill(getQemu(session.path), "SIGKILL");
    await session.ended;
    await eventually("the reason", () => session.reason().length > 0);
    expect(session.reason()).toEqual(["The virtual machine ended: killed by SIGKILL."]);
  });

  it("ends if its guest writes more than a testdrive may", async () => {
    // Writes 32 KiB at a time, one after the other: int 0x13, 0x43.
    const packet = "31c0 8ed8 6631db be007e c7041000 c744024000 c74404007c c744060000";
    const write = "66895c08 66c7440c00000000 b80043 b280 cd13 6683c340 ebe7";
    await using session = await startSession({
      sector: bootSector(`${packet} ${write}`),
      diskBytes: 16 * 1024 * 1024,
      testdriveDiskGb: 0.004,
    });
    await session.ended;
    await eventually("the reason", () => session.reason().length > 0);
    expect(session.reason()).toEqual(["The testdrive wrote more than the 4 MB that it may."]);
    expect(existsSync(session.path)).toBe(false);
  });

  it("continues without its control socket, and ends when it is unknown", async () => {
    await using session = await startSession();
    await session.ready();
    session.service.control.terminate();
    await eventually("a second socket", () => session.service.controls.length === 2);
    expect(findQemu(session.path)).toBeDefined();
    session.service.refuseControl = 410;
    session.service.control.terminate();
    await session.ended;
    expect(findQemu(session.path)).toBeUndefined();
  });

  it.each([
    ["with another digest", { sha256: "0".repeat(64) }, /SHA-256/],
    ["that is larger than announced", { rawSize: 1024 }, /refused/],
  ])("explains why it does not start an image %s", async (_, wrong, why) => {
    await using session = await startSession({
      change: (claim) => ({ ...claim, image: { ...claim.image, ...wrong } }),
    });
    await session.ended;
    await eventually("the reason", () => session.reason().length > 0);
    expect(session.reason()[0]).toMatch(why);
    expect(existsSync(session.path)).toBe(false);
  });
});

describe("killOrphans", () => {
  it("ends leftovers of a killed agent, and no other processes", async () => {
    await using orphan = await startSession();
    await using other = await startSession();
    await Promise.all([orphan.ready(), other.ready()]);
    const pid = getQemu(orphan.path);
    await killOrphans(orphan.stateDir);
    expect(existsSync(`/proc/${pid}/cwd`)).toBe(false);
    expect(existsSync(orphan.path)).toBe(false);
    expect(findQemu(other.path)).toBeDefined();
  });

  it("finds nothing if there was no agent", async () => {
    await expect(killOrphans("/nonexistent/kiln")).resolves.toBeUndefined();
  });
});

/** Twelve bytes of greeting, then a count and that many security types. */
const hasSecurityTypes = (bytes: Buffer) => bytes.length > 12 && bytes.length === 13 + (bytes[12] ?? 0);
