import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { parsePackages } from "../../src/run/result.ts";
import type { FrozenInput, FrozenPackage, ImageType } from "../../src/contract.ts";

interface Wish {
  imageType?: ImageType;
  packages?: FrozenPackage[];
  repositories?: FrozenInput["repositories"];
}

/** The content of a location on the fake mirrors. */
export const fileAt = (location: string) => `the rpm ${location}`;

/** A package, as it is listed by a mirror with the files of `fileAt`. */
export function frozenPackage(name: string, more: Partial<FrozenPackage> = {}): FrozenPackage {
  const one = { name, epoch: 0, version: "1.0", release: "1", arch: "noarch", repository: "main", ...more };
  const location = `${one.arch}/${name}-${one.version}-${one.release}.${one.arch}.rpm`;
  const value = createHash("sha256").update(fileAt(location)).digest("hex");
  return { ...one, location, size: fileAt(location).length, checksum: { type: "sha256", value }, ...more };
}

/** The packages that the fake KIWI reports in its images. */
const examplePackages = (): FrozenPackage[] => {
  const text = readFileSync(new URL("../fixtures/example.packages", import.meta.url), "utf8");
  return parsePackages(text).map(({ name, version, release, arch }) =>
    frozenPackage(name, { version, release, arch, repository: version === "1.1" ? "updates" : "main" }),
  );
};

/** A frozen input for the sample distribution, as the Worker writes it. */
export function frozenInput(wish: Wish = {}): FrozenInput {
  const { imageType = "oem", packages = examplePackages() } = wish;
  const repositories = wish.repositories ?? [
    { alias: "main", id: 1, name: "Tiny main", url: "service:/repositories/tiny/main" },
    { alias: "updates", id: 2, name: "Tiny updates", url: "service:/repositories/tiny/updates" },
  ];
  return {
    formatVersion: 1,
    appliance: { id: 1000, name: "Kiosk", version: "0.0.1", arch: "x86_64" },
    imageType,
    imageName: `Kiosk.x86_64-0.0.1.${imageType}`,
    repositories,
    packages,
    selection: { packages: [{ name: "hello" }], patterns: ["base"] },
    description: { "config.xml": configXml(imageType, packages) },
    writtenBy: "kiln-test",
  };
}

const disk = `<type image="oem" filesystem="ext4" firmware="bios" kernelcmdline="console=tty0 console=ttyS0,115200 rw" bootpartition="false">
      <bootloader name="grub2" timeout="1"/>
      <size unit="M">512</size>
      <oemconfig><oem-resize>false</oem-resize></oemconfig>
    </type>`;
const typeElements: Partial<Record<ImageType, string>> = {
  oem: disk,
  vmx: disk,
  iso: `<type image="iso" flags="overlay" firmware="bios" volid="CDROM" squashfscompression="zstd" kernelcmdline="console=tty0 console=ttyS0,115200">
      <bootloader name="grub2" timeout="1"/>
    </type>`,
};

function configXml(imageType: ImageType, packages: FrozenPackage[]): string {
  const names = packages.map(({ name, version, release }) =>
    name.startsWith("dracut-kiwi-") ? name : `${name}=${version}-${release}`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<image schemaversion="7.5" name="Kiosk" displayname="Kiosk">
  <description type="system"><author>Kiln</author><contact>kiln@example.org</contact><specification>Kiosk</specification></description>
  <preferences>
    <version>0.0.1</version>
    <packagemanager>zypper</packagemanager>
    <locale>en_US</locale>
    <keytable>us</keytable>
    <timezone>UTC</timezone>
    <rpm-check-signatures>false</rpm-check-signatures>
    ${typeElements[imageType]}
  </preferences>
  <users>
    <user name="root" password="$6$sample$${"x".repeat(86)}" pwdformat="encrypted" home="/root" shell="/bin/bash" groups="root"/>
  </users>
  <repository type="rpm-md" alias="frozen" repository_gpgcheck="false"><source path="repo:frozen"/></repository>
  <packages type="bootstrap">
    ${names.map((name) => `<package name="${name}"/>`).join("\n    ")}
  </packages>
</image>
`;
}
