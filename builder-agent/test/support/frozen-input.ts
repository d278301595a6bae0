import type { FrozenInput, ImageType } from "../../src/contract.ts";

interface Wish {
  imageType?: ImageType;
  packages?: string[];
  repositories?: FrozenInput["repositories"];
}

/** A frozen input as the Worker writes it, for the sample distribution. */
export function frozenInput(wish: Wish = {}): FrozenInput {
  const { imageType = "oem", packages = ["hello"] } = wish;
  const repositories = wish.repositories ?? [
    { alias: "main", url: "service:/repositories/tiny/main", priority: 90 },
    { alias: "updates", url: "service:/repositories/tiny/updates", priority: 80 },
  ];
  return {
    formatVersion: 1,
    appliance: { id: 1000, name: "Kiosk", version: "0.0.1", arch: "x86_64" },
    imageType,
    imageName: `Kiosk.x86_64-0.0.1.${imageType}`,
    repositories,
    selection: { packages: packages.map((name) => ({ name })), patterns: ["base"] },
    description: { "config.xml": configXml(imageType, packages, repositories) },
    writtenBy: "kiln-test",
  };
}

const typeElements: Partial<Record<ImageType, string>> = {
  oem: `<type image="oem" filesystem="ext4" firmware="bios" kernelcmdline="console=tty0 console=ttyS0,115200 rw" bootpartition="false">
      <bootloader name="grub2" timeout="1"/>
      <size unit="M">512</size>
      <oemconfig><oem-resize>false</oem-resize></oemconfig>
    </type>`,
  iso: `<type image="iso" flags="overlay" firmware="bios" volid="CDROM" squashfscompression="zstd" kernelcmdline="console=tty0 console=ttyS0,115200">
      <bootloader name="grub2" timeout="1"/>
    </type>`,
};

function configXml(imageType: ImageType, packages: string[], repositories: FrozenInput["repositories"]): string {
  const needs = imageType === "iso" ? ["grub2", "syslinux", "dracut-kiwi-live"] : ["grub2"];
  const names = ["filesystem", "pattern() = base", ...needs, ...packages];
  return `<?xml version="1.0" encoding="utf-8"?>
<image schemaversion="7.5" name="Kiosk" displayname="Kiosk">
  <description type="system"><author>Kiln</author><contact>kiln@example.org</contact><specification>Kiosk</specification></description>
  <preferences>
    <version>0.0.1</version>
    <packagemanager>zypper</packagemanager>
    <locale>en_US</locale>
    <keytable>us</keytable>
    <timezone>UTC</timezone>
    <rpm-check-signatures>true</rpm-check-signatures>
    ${typeElements[imageType]}
  </preferences>
  <users>
    <user name="root" password="$6$sample$${"x".repeat(86)}" pwdformat="encrypted" home="/root" shell="/bin/bash" groups="root"/>
  </users>
  ${repositories.map((each) => `<repository type="rpm-md" alias="${each.alias}" priority="${each.priority}" repository_gpgcheck="true"><source path="repo:${each.alias}"/></repository>`).join("\n  ")}
  <packages type="bootstrap">
    ${names.map((name) => `<package name="${name}"/>`).join("\n    ")}
  </packages>
</image>
`;
}
