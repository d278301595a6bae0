import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Product } from "./result.ts";

/**
 * A system that starts from a network: kernel and initial archive for TFTP, the root file system for HTTP, and an
 * example of PXELINUX's configuration that joins them.
 */
export async function makePxeTree(built: Extract<Product, { format: "net" }>, dir: string, name: string) {
  await mkdir(join(dir, "pxelinux.cfg"));
  await rename(built.kernel, join(dir, "linux"));
  await rename(built.initrd, join(dir, "initrd"));
  await rename(built.image, join(dir, `${name}.squashfs`));
  await writeFile(join(dir, "pxelinux.cfg", "default"), pxelinux(name));
}

/** `root=live:` with an address is dracut's (dracut.cmdline(7), "Booting live images"). */
const pxelinux = (name: string) => `# An example: replace SERVER by the web server that has ${name}.squashfs.
default ${name}
label ${name}
  kernel linux
  initrd initrd
  append root=live:http://SERVER/${name}.squashfs ip=dhcp rd.neednet=1 console=tty0 console=ttyS0,115200
`;
