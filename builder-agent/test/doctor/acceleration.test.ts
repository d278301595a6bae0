import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { chooseAccel, judgeKvm } from "../../src/doctor/acceleration.ts";
import { bootProbe, type ProbeResult } from "../../src/doctor/probe-boot.ts";
import { probeKernel } from "../../src/doctor/probe-kernel.ts";
import { temporaryDir } from "../support/agent-place.ts";

const boots: ProbeResult = { booted: true, ms: 90 };
const hangs: ProbeResult = { booted: false, why: 'the probe kernel says "KIL" after 10 s' };
/** A device that may be read and written, like a usable /dev/kvm. */
const usable = "/dev/null";

describe("probeKernel", () => {
  it("is one boot sector", () => {
    expect(probeKernel()).toHaveLength(512);
    expect(probeKernel().subarray(510)).toEqual(Buffer.of(0x55, 0xaa));
  });
});

describe("bootProbe", () => {
  it("boots the probe kernel in emulation", async () => {
    await using dir = await temporaryDir();
    expect(await bootProbe("tcg", dir.path)).toEqual({ booted: true, ms: expect.any(Number) });
  });

  it.each([
    ["in time", { processorSeconds: 10, seconds: 0.02 }],
    ["with so much processor time", { processorSeconds: 0, seconds: 300 }],
  ])("ends a machine that has not finished %s", async (_, limits) => {
    await using dir = await temporaryDir();
    const probe = await bootProbe("tcg", dir.path, limits);
    expect(probe).toEqual({ booted: false, why: expect.stringContaining('the probe kernel says ""') });
  });
});

describe("judgeKvm", () => {
  it.each([
    ["boots", boots, "kvm"],
    ["does not finish", hangs, "tcg"],
  ])("follows a kernel that %s", async (_, probe, accel) => {
    await using dir = await temporaryDir();
    expect(await judgeKvm(dir.path, { device: usable, boot: async () => probe })).toMatchObject({ accel });
  });

  it("probes once per host, even across restarts", async () => {
    await using dir = await temporaryDir();
    const boot = vi.fn<() => Promise<ProbeResult>>(async () => hangs);
    const first = await judgeKvm(dir.path, { device: usable, boot });
    expect(await judgeKvm(dir.path, { device: usable, boot })).toEqual(first);
    expect(boot).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["from another kernel, QEMU or processor", (kept: string) => kept.replace(/"key":"[0-9a-f]+"/, '"key":"0"')],
    ["unreadable", () => "{"],
  ])("probes again if the stored verdict is %s", async (_, spoil) => {
    await using dir = await temporaryDir();
    await judgeKvm(dir.path, { device: usable, boot: async () => hangs });
    const file = join(dir.path, "doctor/kvm.json");
    await writeFile(file, spoil(await readFile(file, "utf8")));
    expect((await judgeKvm(dir.path, { device: usable, boot: async () => boots })).accel).toBe("kvm");
  });

  it("emulates without KVM, without probing", async () => {
    await using dir = await temporaryDir();
    const boot = vi.fn<() => Promise<ProbeResult>>(async () => boots);
    expect((await judgeKvm(dir.path, { device: join(dir.path, "none"), boot })).accel).toBe("tcg");
    expect(boot).not.toHaveBeenCalled();
  });
});

describe("chooseAccel", () => {
  it.each(["kvm", "tcg"] as const)("follows an operator who sets %s", async (accel) => {
    expect(await chooseAccel({ accel, stateDir: "/nonexistent" })).toBe(accel);
  });
});
