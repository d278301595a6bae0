import { execFileSync } from "node:child_process";
import { expect } from "vitest";
import { bootDisk } from "./guest.ts";

// A disk of i586 with a volume group: described, and looked at by logging in.

const password = "volumes";
/** Who logs in there. */
export const volumesRoot = {
  name: "root",
  passwordHash: execFileSync("openssl", ["passwd", "-6", "-salt", "sample", password]).toString().trim(),
  homedir: "/root",
  shell: "/bin/bash",
  group: "root",
  uid: 0,
};
export const lvm = { enabled: true, volumeGroup: "kiosk-VG", volumes: [{ path: "/srv", sizeMb: 96 }] };
export const diskSizeMb = 640;

// The terminal shows what is typed: END alone is its answer.
const questions = `lvs --noheadings --units m -o vg_name,lv_name,lv_size
grep -E ' /(srv)? ' /proc/mounts
echo E''ND
`;

/** A machine finds its root in the volume group, with the volumes that were asked for. */
export async function expectVolumes(disk: string): Promise<void> {
  await using machine = bootDisk(disk);
  expect(await machine.says("login:", 800)).toContain("-686 ");
  await machine.type("root\n");
  await machine.says("Password:", 300);
  await machine.type(`${password}\n`);
  await machine.says("bash-", 300);
  await machine.type(questions);
  const said = await machine.says("\nEND\n", 300);

  // All that src/domain/configuration/volumes.ts counts on: 640 MB have room for 336.
  expect(said).toMatch(/^ +kiosk-VG +LVRoot +240\.00m$/m);
  expect(said).toMatch(/^ +kiosk-VG +lv1_srv +96\.00m$/m);
  expect(said).toMatch(/^\/dev\/mapper\/kiosk--VG-LVRoot \/ ext4 rw,/m);
  expect(said).toMatch(/^\/dev\/(kiosk-VG\/|mapper\/kiosk--VG-)lv1_srv \/srv ext4 rw,/m);
}
