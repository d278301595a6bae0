import { describe, expect, it } from "vitest";
import { checkVolumes, checkVolumesInGuests } from "../../src/doctor/volumes.ts";

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

  it("is honest about guests, where nobody has tried it", () => {
    expect(checkVolumesInGuests()).toMatchObject({ state: "degraded", disables: ["LVM disks"] });
  });

  it("finds out about this host without failing", async () => {
    expect((await checkVolumes()).state).toMatch(/^(ok|degraded)$/);
  });
});
