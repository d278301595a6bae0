import type { Way } from "./image-format.ts";

export const unpack: Way = { title: "Unpack it", lines: ["tar -xzf {file}"] };

const overwritten = "Everything on that disk is lost. lsblk lists your disks: replace sdX with the right one.";

export const onDisk = (title: string, path: string): Way => ({
  title,
  note: overwritten,
  lines: [`sudo dd if=${path} of=/dev/sdX bs=4M conv=fsync status=progress`],
});

/** Stands for the start of a machine of the image's architecture. */
export const qemu = "{qemu}";

export const inQemu = (drive: string): Way => ({
  title: "Start it in QEMU",
  // QEMU emulates if there is no /dev/kvm, but aborts if there is one that does not work, as in some virtual machines.
  note: "If QEMU aborts, virtualisation does not work on this machine. Try again without -accel kvm.",
  lines: [`${qemu} ${drive}`],
});

/** The name of a box contains no slash, or Vagrant would look for it on its own server. */
export const addBox = (provider: "libvirt" | "virtualbox"): Way => ({
  title: "Start it with Vagrant, in an empty folder",
  note: "Vagrant logs in by SSH as vagrant, with its own key. An appliance needs that user, or `config.ssh` must name another one.",
  lines: [
    `vagrant box add --name {name} --provider ${provider} {file}`,
    "vagrant init {name}",
    `vagrant up --provider ${provider}`,
  ],
});
