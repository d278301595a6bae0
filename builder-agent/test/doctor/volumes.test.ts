import { describe, expect, it } from "vitest";
import { checkVolumes, judgeVolumesInGuests } from "../../src/doctor/volumes.ts";

const program = async () => "/usr/sbin/lvm";
const yes = async () => true;
const no = async () => false;

describe("checkVolumes", () => {
  it("requires lvm2 and a working device mapper", async () => {
    expect(await checkVolumes({ program, answers: yes })).toMatchObject({ state: "ok", disables: [] });
  });

  it.each([
    ["lvm2", { program: async () => undefined, answers: yes }],
    ["device mapper", { program, answers: no }],
  ])("reports that %s is missing, which disables only volumes", async (name, host) => {
    expect(await checkVolumes(host)).toMatchObject({ name, state: "degraded", disables: ["LVM disks"] });
  });

  it("checks this host without failing", async () => {
    expect((await checkVolumes()).state).toMatch(/^(ok|degraded)$/);
  });
});

describe("judgeVolumesInGuests", () => {
  it.each([
    ["ok", { hasLvm2: true, hasMapper: true }, { name: "lvm2", disables: [] }],
    ["degraded", { hasLvm2: false, hasMapper: true }, { name: "lvm2", disables: ["LVM disks"] }],
    ["degraded", { hasLvm2: false, hasMapper: false }, { name: "lvm2", disables: ["LVM disks"] }],
    ["degraded", { hasLvm2: true, hasMapper: false }, { name: "device mapper", disables: ["LVM disks"] }],
  ])("are %s with %j, whatever the host's kernel has", (state, found, check) => {
    expect(judgeVolumesInGuests(found)).toMatchObject({ state, ...check });
  });

  it("explain that the next start of the agent adds lvm2", () => {
    expect(judgeVolumesInGuests({ hasLvm2: false, hasMapper: true }).fix).toMatch(/lvm2, and start the agent again/);
  });
});
