import { describe, expect, it } from "vitest";
import { imageTypes } from "#lib/contract/index";
import { descriptionFiles } from "#lib/kiwi/description-files";
import type { ImageFacts } from "#lib/kiwi/facts";
import { plain } from "./support/facts.ts";

type Way = ImageFacts["settings"]["diskEncryption"];

const filesOf = (diskEncryption: Way, change: Partial<ImageFacts> = {}) =>
  descriptionFiles({ ...plain, ...change, settings: { ...plain.settings, ...change.settings, diskEncryption } });
const typeIn = (files: Record<string, string>) => /<type [^>]*>/.exec(files["config.xml"] ?? "")?.[0];

describe("an image whose machines encrypt their disk", () => {
  it("is any disk, and no other image", () => {
    const encrypting = imageTypes.filter(
      (imageType) =>
        JSON.stringify(filesOf("passphrase", { imageType })) !== JSON.stringify(filesOf("none", { imageType })),
    );
    const others = imageTypes.filter((imageType) => !encrypting.includes(imageType));
    expect(others.toSorted()).toEqual(["iso", "net", "oci", "oemiso", "wsl"]);
  });

  it.each(["bios", "uefi"] as const)("has /boot and a place for the header outside the root, with %s", (firmware) => {
    const type = typeIn(filesOf("passphrase", { firmware }));
    expect(type).toContain(' bootpartition="true"');
    expect(type).toMatch(/ spare_part="(1[7-9]|[2-9]\d)"/); // a LUKS2 header takes 16 MiB
    expect(type).not.toMatch(/luks/); // the image itself is not encrypted
  });

  it("brings the module into the initial archive", () => {
    const files = filesOf("passphrase");
    const [, name] =
      /add_dracutmodules\+=" (\S+) "/.exec(files["root/etc/dracut.conf.d/30-kiln-disk.conf"] ?? "") ?? [];
    const folder = `root/usr/lib/dracut/modules.d/91${name}`;
    expect(files[`${folder}/module-setup.sh`]).toMatch(/^#!\/bin\/bash\n/);
    expect(files[`${folder}/disk.sh`]).toMatch(/^#!\/bin\/sh\n/);
    const unit = files[`${folder}/kiln-disk.service`];
    expect(unit).toContain("\nExecStart=/usr/lib/kiln/disk\n");
    // systemd 252 would unmount the root, which requires the unit, before switching to it.
    expect(unit).not.toContain("switch-root");
  });

  it("leaves the partition to the initial archive, and not to cloud-init", () => {
    const settings = { ...plain.settings, firstBoot: "cloud-init" as const };
    const configured = (way: Way) => filesOf(way, { settings })["root/etc/cloud/cloud.cfg.d/95-kiln.cfg"];
    expect(configured("passphrase")).toContain("\ngrowpart: { mode: off }\n");
    expect(configured("none")).not.toContain("growpart");
  });

  it("brings the programs for a TPM, and gives nobody a shell before the root is there", () => {
    const setup = (way: Way) => filesOf(way)["root/usr/lib/dracut/modules.d/91kiln-disk/module-setup.sh"];
    expect(setup("tpm")).toMatch(/^depends\(\) .* tpm2-tss/m);
    expect(setup("tpm")).toMatch(/ systemd-creds tpm2_pcrevent /);
    expect(setup("passphrase")).not.toContain("tpm");
    expect(typeIn(filesOf("tpm"))).toMatch(/ kernelcmdline="[^"]* rw rd\.shell=0"/);
    for (const way of ["none", "passphrase"] as const) expect(typeIn(filesOf(way))).not.toContain("rd.shell");
  });

  it("brings a network and the programs for a key server, and gives nobody a shell before the root is there", () => {
    const setup = filesOf("tang")["root/usr/lib/dracut/modules.d/91kiln-disk/module-setup.sh"];
    expect(setup).toMatch(/^depends\(\) .* systemd-networkd/m);
    expect(setup).toMatch(/ clevis clevis-encrypt-tang clevis-decrypt clevis-decrypt-tang jose curl /);
    expect(setup).toContain("\nDHCP=yes\n".replaceAll("\n", String.raw`\n`));
    expect(typeIn(filesOf("tang"))).toMatch(/ kernelcmdline="[^"]* rw rd\.shell=0"/);
  });
});
