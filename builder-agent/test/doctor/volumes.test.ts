import { describe, expect, it } from "vitest";
import { checkVolumes, judgeVolumesInGuests } from "../../src/doctor/volumes.ts";

const program = async () => "/usr/sbin/lvm";
const yes = async () => true;
const no = async () => false;

describe("checkVolumes", () => {
  it("wants lvm2 and a device mapper that answers it", async () => {
    expect(await checkVolumes({ program, answers: yes })).toMatchObject({ state: "ok", disables: [] });
  });

  it.each([
    ["lvm2", { program: async () => undefined, answers: yes }],
    ["device mapper", { program, answers: no }],
  ])("says that %s is missing, which takes volumes away and nothing else", async (name, host) => {
    expect(await checkVolumes(host)).toMatchObject({ name, state: "degraded", disables: ["LVM disks"] });
  });

  it("finds out about this host without failing", async () => {
    expect((await checkVolumes()).state).toMatch(/^(ok|degraded)$/);
  });
});

describe("judgeVolumesInGuests", () => {
  it.each([
    ["ok", { hasLvm2: true, hasMapper: true }, { name: "lvm2", disables: [] }],
    ["degraded", { hasLvm2: false, hasMapper: true }, { name: "lvm2", disables: ["LVM disks"] }],
    ["degraded", { hasLvm2: false, hasMapper: false }, { name: "lvm2", disables: ["LVM disks"] }],
    ["degraded", { hasLvm2: true, hasMapper: false }, { name: "device mapper", disables: ["LVM disks"] }],
  ])("is %s with %j, whatever the host's kernel has", (state, found, check) => {
    expect(judgeVolumesInGuests(found)).toMatchObject({ state, ...check });
  });

  it("says that lvm2 comes with the agent's next start", () => {
    expect(judgeVolumesInGuests({ hasLvm2: false, hasMapper: true }).mend).toMatch(/lvm2, and start the agent again/);
  });
});
