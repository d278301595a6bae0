import type { ImageType } from "#contract/index";
import { marked, type XmlMarked } from "#xml/write";

// Both consoles: the screen of the testdrive and the serial line of servers.
const consoles = "console=tty0 console=ttyS0,115200";
const bootloader = marked({ name: "grub2", timeout: "1" }, {});

/** KIWI's `<type>` of an image type. Agents announce which of them they can build, so the others are never asked for. */
export function imageTypeElement(imageType: ImageType, { diskSizeMb }: { diskSizeMb: number }): XmlMarked {
  if (imageType === "iso") {
    // zstd: xz takes most of the time of a build and gains a tenth in size.
    const attributes = {
      image: "iso",
      flags: "overlay",
      firmware: "bios",
      volid: "CDROM",
      squashfscompression: "zstd",
    };
    return marked({ ...attributes, kernelcmdline: consoles }, { bootloader });
  }
  return marked(
    { image: "oem", filesystem: "ext4", firmware: "bios", bootpartition: "false", kernelcmdline: `${consoles} rw` },
    { bootloader, size: marked({ unit: "M" }, String(diskSizeMb)), oemconfig: { "oem-resize": false } },
  );
}
