import { describe, expect, it } from "vitest";
import { imageTypes } from "#lib/contract/index";
import { descriptionFiles } from "#lib/kiwi/description-files";
import type { ImageFacts } from "#lib/kiwi/facts";
import { plain } from "./support/facts.ts";

const ignition = { ...plain.settings, firstBoot: "ignition" as const };
const filesOf = (change: Partial<ImageFacts> = {}) => descriptionFiles({ ...plain, settings: ignition, ...change });
const grub = "root/etc/grub.d/06_kiln_ignition";

describe("an image with Ignition", () => {
  it("has the platform that was tried, and images of other types stay as they are", () => {
    const started = imageTypes.filter((imageType) => filesOf({ imageType })[grub] !== undefined);
    expect(started).toEqual(["oem", "qcow2", "vagrant_libvirt"]);
    for (const imageType of imageTypes.filter((type) => !started.includes(type)))
      expect(filesOf({ imageType })).toEqual(descriptionFiles({ ...plain, imageType }));
  });

  it("starts it by GRUB while a file is there, which the machine then removes", () => {
    const files = filesOf();
    expect(files[grub]).toMatch(/^#!\/bin\/sh\n[^]*-f \/boot\/ignition\.firstboot [^]*ignition\.platform\.id=qemu/);
    expect(files["root/boot/ignition.firstboot"]).toBe("");
    expect(files["root/etc/default/grub.d/kiln-ignition.cfg"]).toContain(String.raw`\$ignition`);
    const unit = "kiln-ignition-done.service";
    expect(files[`root/image/kiln/units/${unit}`]).toContain("rm -f /boot/ignition.firstboot\n");
    expect(files["config.sh"]).toContain(`\ninstall_unit ${unit}\n`);
  });

  it("takes the drop-in of its service into the initial archive", () => {
    const files = filesOf();
    const [, path = ""] =
      /install_items\+=" (\S+) "/.exec(files["root/etc/dracut.conf.d/50-kiln-ignition.conf"] ?? "") ?? [];
    expect(files[`root${path}`]).toContain("IGNITION_WRITE_AUTHORIZED_KEYS_FRAGMENT=false\n");
  });
});
