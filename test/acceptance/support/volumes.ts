import { execFileSync } from "node:child_process";
import { expect } from "vitest";
import { bootDisk } from "./guest.ts";

// An i586 disk with a volume group: its description, and a check by logging in.

const password = "volumes";
/** The user who logs in. */
export const volumesRoot = {
  name: "root",
  passwordHash: execFileSync("openssl", ["passwd", "-6", "-salt", "sample", password]).toString().trim(),
  homedir: "/root",
  shell: "/bin/bash",
  group: "root",
  uid: 0,
};
export const lvm = {
  enabled: true,
  kind: "lvm" as const,
  volumeGroup: "kiosk-VG",
  volumes: [{ path: "/srv", sizeMb: 96 }],
};
export const diskSizeMb = 640;

// The terminal also shows typed text. Only output contains END in one piece.
const questions = `lvs --noheadings --units m -o vg_name,lv_name,lv_size
grep -E ' /(srv)? ' /proc/mounts
echo E''ND
`;

/** Checks that a machine finds its root in the volume group, with the configured volumes. */
export async function expectVolumes(disk: string): Promise<void> {
  await using machine = bootDisk(disk);
  expect(await machine.says("login:", 800)).toContain("-686 ");
  await machine.type("root\n");
  await machine.says("Password:", 300);
  await machine.type(`${password}\n`);
  await machine.says("bash-", 300);
  await machine.type(questions);
  const output = await machine.says("\nEND\n", 300);

  // Everything that src/domain/configuration/volumes.ts relies on: 640 MB have room for 336.
  expect(output).toMatch(/^ +kiosk-VG +LVRoot +240\.00m$/m);
  expect(output).toMatch(/^ +kiosk-VG +lv1_srv +96\.00m$/m);
  expect(output).toMatch(/^\/dev\/mapper\/kiosk--VG-LVRoot \/ ext4 rw,/m);
  expect(output).toMatch(/^\/dev\/(kiosk-VG\/|mapper\/kiosk--VG-)lv1_srv \/srv ext4 rw,/m);
}
