import type { Way } from "./image-format.ts";

export const unpack: Way = { title: "Unpack it", lines: ["tar -xzf {file}"] };

const overwritten = "Everything on that disk is lost. lsblk lists your disks: replace sdX with the right one.";

export const onDisk = (title: string, path: string): Way => ({
  title,
  note: overwritten,
  lines: [`sudo dd if=${path} of=/dev/sdX bs=4M conv=fsync status=progress`],
});

/** Uses hardware virtualisation if available. Five-level page tables only make emulation slower. */
export const qemu = "qemu-system-x86_64 -accel kvm -accel tcg -cpu max,la57=off -m 2048";

export const inQemu = (drive: string): Way => ({ title: "Start it in QEMU", lines: [`${qemu} ${drive}`] });
