import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DescribedMachine } from "./machine.ts";
import { ovf } from "./ovf.ts";

const gibi = 1024 ** 3;

/** A box for the provider libvirt. Vagrant counts the disk in whole GiB. Returns the names of its files. */
export const writeLibvirtBox = ({ dir, rawSize }: DescribedMachine): Promise<string[]> =>
  writeAll(dir, {
    "metadata.json": JSON.stringify({ provider: "libvirt", format: "qcow2", virtual_size: Math.ceil(rawSize / gibi) }),
    Vagrantfile: vagrantfile(),
  });

/** A box for the provider VirtualBox, which imports `box.ovf` and gives the network card this address. Returns the names of its files. */
export const writeVirtualBoxBox = async (described: DescribedMachine): Promise<string[]> =>
  await writeAll(described.dir, {
    "metadata.json": JSON.stringify({ provider: "virtualbox" }),
    Vagrantfile: vagrantfile('  config.vm.base_mac = "0800274B696C"'),
    "box.ovf": ovf(described, (await stat(described.disk)).size),
  });

async function writeAll(dir: string, files: Readonly<Record<string, string>>): Promise<string[]> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  return Object.keys(files);
}

/** A shared folder would need programs in the image. */
const vagrantfile = (...lines: string[]): string =>
  [
    'Vagrant.configure("2") do |config|',
    ...lines,
    '  config.vm.synced_folder ".", "/vagrant", disabled: true',
    "end",
    "",
  ].join("\n");
