import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isPossible } from "../../src/doctor/check.ts";
import { checkGuest, type GuestQuestions } from "../../src/doctor/guest.ts";
import { temporaryDir } from "../support/agent-place.ts";

const system = { kernel: "k", initrd: "i", root: "r", key: "1" };
const means = {
  accel: "tcg",
  detail: "/dev/kvm is missing, or the agent may not open it",
  groups: [],
  enclosed: true,
  openness: "",
} as const;

const shown = { said: "KIWI answers", runs32Bit: true, hasLvm2: true, hasMapper: true };

const answers = (more: Partial<GuestQuestions> = {}): GuestQuestions => ({
  means: async () => means,
  system: async () => system,
  probe: async () => shown,
  ...more,
});

const lackingLvm2 = async () => ({ ...shown, hasLvm2: false });
const lacking32Bit = async () => ({ ...shown, runs32Bit: false });

describe("checkGuest", () => {
  it("reports that builds work, and that emulation is slow", async () => {
    await using dir = await temporaryDir();
    const report = await checkGuest({ stateDir: dir.path, accel: "auto" }, answers());
    expect(report.map(({ state }) => state)).toEqual(["ok", "ok", "ok", "degraded", "ok"]);
    expect(report[3]?.detail).toContain("eight times");
  });

  it("boots a guest once per system, not at each start", async () => {
    await using dir = await temporaryDir();
    const asked: string[] = [];
    const probe = async ({ key }: typeof system) => {
      asked.push(key);
      return shown;
    };
    const config = { stateDir: dir.path, accel: "auto" } as const;
    await checkGuest(config, answers({ probe }));
    await checkGuest(config, answers({ probe }));
    await checkGuest(config, answers({ probe, system: async () => ({ ...system, key: "2" }) }));
    expect(asked).toEqual(["1", "2"]);
  });

  it.each(["", '{"key":"1 tcg true"', "[]"])("boots a guest again if the stored verdict is %j", async (text) => {
    await using dir = await temporaryDir();
    const config = { stateDir: dir.path, accel: "auto" } as const;
    await checkGuest(config, answers());
    writeFileSync(join(dir.path, "doctor/guest.json"), text);
    const [first] = await checkGuest(config, answers({ probe: async () => ({ ...shown, said: "asked again" }) }));
    expect(first?.detail).toBe("asked again");
    expect(readdirSync(join(dir.path, "doctor"))).toEqual(["guest.json"]);
  });

  it("disables i586 if the host's guests cannot run its programs", async () => {
    await using dir = await temporaryDir();
    const config = { stateDir: dir.path, accel: "auto" } as const;
    for (const probe of [lacking32Bit, () => Promise.reject(new Error("asked again"))]) {
      const report = await checkGuest(config, answers({ probe }));
      expect(report.find(({ name }) => name === "guest of builds")).toMatchObject({ state: "ok" });
      expect(isPossible("i586", report)).toBe(false);
      expect(isPossible("oem", report)).toBe(true);
    }
  });

  it("disables only volumes if the host's guests have no lvm2", async () => {
    await using dir = await temporaryDir();
    const report = await checkGuest({ stateDir: dir.path, accel: "auto" }, answers({ probe: lackingLvm2 }));
    expect(report.filter(({ disables }) => disables.length > 0)).toMatchObject([
      { name: "lvm2", state: "degraded", disables: ["LVM disks"] },
    ]);
  });

  it.each<[string, Partial<GuestQuestions>]>([
    ["cannot be made", { system: () => Promise.reject(new Error("packages for the guest are missing: zypper")) }],
    ["does not boot", { probe: () => Promise.reject(new Error("the guest did not start: zypper")) }],
  ])("disables builds if the host's guest %s, without an alternative", async (_, more) => {
    await using dir = await temporaryDir();
    const [first] = await checkGuest({ stateDir: dir.path, accel: "auto" }, answers(more));
    expect(first).toMatchObject({ state: "missing", disables: ["builds"], detail: expect.stringContaining("zypper") });
  });

  it("reports that QEMU is not sandboxed", async () => {
    await using dir = await temporaryDir();
    const open = { ...means, accel: "kvm", enclosed: false, openness: "bwrap: no permission" } as const;
    const report = await checkGuest({ stateDir: dir.path, accel: "auto" }, answers({ means: async () => open }));
    expect(report.map(({ state }) => state)).toEqual(["ok", "ok", "ok", "ok", "degraded"]);
    expect(report[4]?.detail).toContain("no permission");
  });
});
