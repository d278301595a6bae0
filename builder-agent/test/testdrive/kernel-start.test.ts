import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { probeKernel } from "../../src/doctor/probe-kernel.ts";
import { processorMs } from "../../src/process.ts";
import { makeDrives } from "../../src/testdrive/disk.ts";
import { kernelLook } from "../../src/testdrive/kernel-start.ts";
import { startQemu } from "../../src/testdrive/qemu.ts";
import { makeSessionDir } from "../../src/testdrive/session-dir.ts";
import { getSandbox } from "../../src/testdrive/session-sandbox.ts";
import { eventually, temporaryDir } from "../support/agent-place.ts";
import { getQemu } from "./find-qemu.ts";
import { bootSector, startSession } from "./session.ts";

let nextId = 900;
const kernelLimits = { stuckMs: 300, everyMs: 50 };

/** A machine with a real QEMU that boots this sector. */
async function booted(sector: Buffer) {
  const state = await temporaryDir();
  const testdriveId = nextId++;
  const dir = await makeSessionDir(state.path, testdriveId);
  const path = join(state.path, "disk");
  writeFileSync(path, Buffer.concat([sector, Buffer.alloc(1024 * 1024 - sector.length)]));
  const stop = new AbortController();
  const image = { path, format: "raw", release: () => {}, [Symbol.dispose]: () => {} } as const;
  const drives = await makeDrives({ image, imageType: "oem" }, dir, stop.signal);
  const { enclosed } = await getSandbox();
  let restarts = 0;
  const qemu = await startQemu(
    {
      testdriveId,
      accel: "tcg",
      memoryMb: 64,
      diskBytes: 1e9,
      vnc: null,
      hasNetwork: false,
      seed: [],
      drives,
      image: path,
      enclosed,
    },
    dir,
    { onEvent: () => {}, signal: stop.signal, kernelLimits, onRestart: () => (restarts += 1) },
  );
  return {
    restarts: () => restarts,
    printed: () => readFileSync(dir.file("serial.log"), "latin1"),
    /** Resolves when the machine has used this much more processor time. */
    async uses(moreMs: number) {
      const pid = getQemu(dir.path);
      let usedMs = 0;
      const look = () => void processorMs(pid).then((ms) => (usedMs = ms ?? 0));
      look();
      await eventually("the first look", () => usedMs > 0);
      const before = usedMs;
      await eventually("the processor time", () => (look(), usedMs - before >= moreMs));
    },
    async [Symbol.asyncDispose]() {
      await qemu[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
      await state[Symbol.asyncDispose]();
    },
  };
}

/**
 * The probe kernel prints "KIL" and, after its clock has ticked, "N". This copy does not wait for the tick. It counts
 * its starts in a byte of the battery-backed memory, and hangs in all of them except the start with this number.
 */
function stuckUntilStart(number: number): Buffer {
  const sector = probeKernel();
  const waiting = sector.indexOf(Buffer.from("b900000004c1c00501c8ffc975f785db7503f4ebf9", "hex"));
  // al = ++cmos[0x50]; if (al < number) repeat this instruction; nop …
  const counting = `b050e670 e471 fec0 e671 3c${number.toString(16).padStart(2, "0")} 7302 ebfe 9090909090`;
  Buffer.from(counting.replaceAll(" ", ""), "hex").copy(sector, waiting);
  return sector;
}

describe("an emulated machine whose kernel is stuck before its clock runs", () => {
  it("is restarted until it boots", async () => {
    await using machine = await booted(stuckUntilStart(3));
    await eventually("the kernel", () => machine.printed() === "KILKILKILN\n");
    expect(machine.restarts()).toBe(2);
  });

  it("is restarted three times at most", async () => {
    await using machine = await booted(stuckUntilStart(99));
    await eventually("three restarts", () => machine.restarts() === 3);
    await machine.uses(4 * kernelLimits.stuckMs);
    expect(machine.printed()).toBe("KIL".repeat(4));
    expect(machine.restarts()).toBe(3);
  });
});

describe("an emulated machine is not restarted", () => {
  it("if its boot loader waits and keeps the processor busy", async () => {
    // dx = 0x3f8; out 'R'; repeat this instruction
    await using machine = await booted(bootSector("baf803 b052 ee ebfe"));
    await eventually("the boot loader", () => machine.printed() === "R");
    await machine.uses(4 * kernelLimits.stuckMs);
    expect(machine.printed()).toBe("R");
  });

  it("if its kernel waits", async () => {
    await using machine = await booted(probeKernel());
    await eventually("the kernel", () => machine.printed() === "KILN\n");
    expect(machine.restarts()).toBe(0);
  });
});

/** QEMU 7.2's answers. */
const registersAt = (place: string, { halted = 0, cr0 = "80050033" } = {}) =>
  `\nCPU#0\n${place} EFL=00000246 [---Z-P-] CPL=0 II=0 A20=1 SMM=0 HLT=${halted}\nES =0000 00000000\nCR0=${cr0} CR2=0\n`;
const noClock =
  "LVTTHMR\t 0x00010000 active-hi edge  masked\nLVTT\t 0x00010000 active-hi edge  masked  one-shot  Fixed  (vec 0)\n";
const clock =
  "LVTTHMR\t 0x00010000 active-hi edge  masked\nLVTT\t 0x000200ec active-hi edge   periodic  Fixed  (vec 236)\n";
const panicking = "RIP=ffffffffa49c3643";

describe("what the processor does", () => {
  it.each([
    ["firmware", "EIP=0000b7b9", noClock, "not yet"],
    ["a kernel that unpacks itself", "RIP=000000000431c3bd", noClock, "not yet"],
    ["a program of a user", "RIP=00007f21a49c3643", noClock, "not yet"],
    ["a kernel with its clock", panicking, clock, "started"],
    ["a kernel for 32 bits with its clock", "EIP=c1234567", clock, "started"],
    ["a kernel without its clock", panicking, noClock, { loop: "ffffffffa49c3" }],
    ["a kernel for 32 bits without its clock", "EIP=c1234567", noClock, { loop: "c1234" }],
    ["a kernel on a processor without such a clock", panicking, "", "started"],
  ])("%s", (_, place, lapic, look) => expect(kernelLook(registersAt(place), lapic)).toEqual(look));

  it("firmware at high addresses, which has no page tables", () => {
    expect(kernelLook(registersAt("EIP=ffffe05b", { cr0: "00000011" }), noClock)).toBe("not yet");
  });

  it("a kernel that sleeps", () => {
    expect(kernelLook(registersAt(panicking, { halted: 1 }), noClock)).toBe("started");
  });
});

it("reports to the session's owner, and in the agent's log, that a machine was restarted", async () => {
  await using session = await startSession({ sector: stuckUntilStart(2) });
  await session.ready();
  await eventually("the message", () =>
    session.service.said("preparing").some((report) => "message" in report && report.message.includes("restarted")),
  );
  await eventually("the kernel", () => readFileSync(join(session.path, "serial.log"), "latin1").endsWith("N\n"));
  expect(session.logged).toContain("testdrive restarted");
});
