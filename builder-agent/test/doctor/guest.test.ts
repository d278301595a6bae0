import { describe, expect, it } from "vitest";
import { checkGuest, type GuestQuestions } from "../../src/doctor/guest.ts";
import { temporaryDir } from "../support/agent-place.ts";

const system = { kernel: "k", initrd: "i", root: "r", key: "1" };
const means = {
  accel: "tcg",
  detail: "there is no /dev/kvm for us",
  groups: [],
  enclosed: true,
  openness: "",
} as const;

const answers = (more: Partial<GuestQuestions> = {}): GuestQuestions => ({
  means: async () => means,
  system: async () => system,
  probe: async () => "KIWI answers",
  ...more,
});

describe("checkGuest", () => {
  it("says that builds work, and that emulation is slow", async () => {
    await using dir = await temporaryDir();
    const report = await checkGuest({ stateDir: dir.path, accel: "auto" }, answers());
    expect(report.map(({ state }) => state)).toEqual(["ok", "degraded", "ok"]);
    expect(report[1]?.detail).toContain("eight times");
  });

  it("boots a guest once for each system, not at each start", async () => {
    await using dir = await temporaryDir();
    const asked: string[] = [];
    const probe = async ({ key }: typeof system) => {
      asked.push(key);
      return "KIWI answers";
    };
    const config = { stateDir: dir.path, accel: "auto" } as const;
    await checkGuest(config, answers({ probe }));
    await checkGuest(config, answers({ probe }));
    await checkGuest(config, answers({ probe, system: async () => ({ ...system, key: "2" }) }));
    expect(asked).toEqual(["1", "2"]);
  });

  it.each<[string, Partial<GuestQuestions>]>([
    ["cannot be made", { system: () => Promise.reject(new Error("packages for the guest are missing: zypper")) }],
    ["does not boot", { probe: () => Promise.reject(new Error("the guest did not start: zypper")) }],
  ])("takes builds from a host whose guest %s, and does not look for another way", async (_, more) => {
    await using dir = await temporaryDir();
    const [first] = await checkGuest({ stateDir: dir.path, accel: "auto" }, answers(more));
    expect(first).toMatchObject({ state: "missing", disables: ["builds"], detail: expect.stringContaining("zypper") });
  });

  it("tells when QEMU is not enclosed", async () => {
    await using dir = await temporaryDir();
    const open = { ...means, accel: "kvm", enclosed: false, openness: "bwrap: no permission" } as const;
    const report = await checkGuest({ stateDir: dir.path, accel: "auto" }, answers({ means: async () => open }));
    expect(report.map(({ state }) => state)).toEqual(["ok", "ok", "degraded"]);
    expect(report[2]?.detail).toContain("no permission");
  });
});
