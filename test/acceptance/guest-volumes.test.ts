import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { guestOfBuild } from "../../builder-agent/src/guest/means.ts";
import { temporaryDir, testConfig } from "../../builder-agent/test/support/agent-place.ts";
import { bootDisk } from "./support/guest.ts";
import { buildHere, sampleDistribution, serveDistribution } from "./support/local-build.ts";
import { resolvedTiny } from "./support/resolved-tiny.ts";

// KIWI divides a disk in a guest, where the host's kernel needs no device mapper; a machine finds its root in there again.

const password = "volumes";
const root = {
  name: "root",
  passwordHash: execFileSync("openssl", ["passwd", "-6", "-salt", "sample", password]).toString().trim(),
  homedir: "/root",
  shell: "/bin/bash",
  group: "root",
  uid: 0,
};
const lvm = { enabled: true, volumeGroup: "kiosk-VG", volumes: [{ path: "/srv", sizeMb: 96 }] };
const diskSizeMb = 640;

// The terminal shows what is typed: END alone is its answer.
const questions = `lvs --noheadings --units m -o vg_name,lv_name,lv_size
grep -E ' /(srv)? ' /proc/mounts
echo E''ND
`;

describe("a disk with volumes, built in a guest", () => {
  it("boots from its volume group, with the volumes that were asked for", { timeout: 1_200_000 }, async () => {
    const distribution = sampleDistribution();
    await using state = await temporaryDir();
    using server = await serveDistribution(distribution);
    const facts = { lvm, diskSizeMb, users: [root] };
    const input = await resolvedTiny(distribution, { requests: ["hello", "lvm2"], facts });
    const config = testConfig(server.url, state.path, { isolation: "vm", accel: "tcg", buildDiskGb: 2 });
    await using guest = await guestOfBuild(config, 6001);

    await buildHere(input, { stateDir: state.path, url: server.url, guest }, async ({ image, rawSize }) => {
      expect(rawSize).toBe(diskSizeMb * 1024 * 1024);
      await using machine = bootDisk(image);
      await machine.says("login:", 400);
      await machine.type("root\n");
      await machine.says("Password:", 60);
      await machine.type(`${password}\n`);
      await machine.says("bash-", 60);
      await machine.type(questions);
      const said = await machine.says("\nEND\n", 60);

      // All that src/domain/configuration/volumes.ts counts on: 640 MB have room for 336.
      expect(said).toMatch(/^ +kiosk-VG +LVRoot +240\.00m$/m);
      expect(said).toMatch(/^ +kiosk-VG +lv1_srv +96\.00m$/m);
      expect(said).toMatch(/^\/dev\/mapper\/kiosk--VG-LVRoot \/ ext4 rw,/m);
      expect(said).toMatch(/^\/dev\/(kiosk-VG\/|mapper\/kiosk--VG-)lv1_srv \/srv ext4 rw,/m);
    });
  });
});
