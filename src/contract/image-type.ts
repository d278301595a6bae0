import { z } from "zod";

/** The image types that agents can build (api.md, "Image types"). The API's shorter v1 list is in src/api/versions.ts. */
export const imageTypes = ["oem", "iso", "vmx", "xen", "ec2", "net", "oemiso"] as const;
export const ImageType = z.enum(imageTypes);
export type ImageType = z.infer<typeof ImageType>;

/** The image that KIWI makes first. Most types are a disk that is then converted. */
export const kiwiTypes: Readonly<Record<ImageType, "oem" | "iso" | "kis">> = {
  oem: "oem",
  iso: "iso",
  vmx: "oem",
  xen: "oem",
  ec2: "oem",
  net: "kis",
  oemiso: "oem",
};

/** The firmware that an image boots with: only BIOS, or `efi`, which means UEFI and BIOS. */
export const Firmware = z.enum(["bios", "efi"]);
export type Firmware = z.infer<typeof Firmware>;

export const Arch = z.enum(["x86_64", "i586"]);
export type Arch = z.infer<typeof Arch>;

/** The kind of packages that a distribution consists of. A base system has one kind, and so have all its repositories. */
export const PackageType = z.enum(["rpm", "deb"]);
export type PackageType = z.infer<typeof PackageType>;

/** Debian's names of the architectures. */
export const debianArch: Readonly<Record<Arch, string>> = { x86_64: "amd64", i586: "i386" };

export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** Of a builder root: a system of its own with KIWI and its tools, in which builds run. */
export const BuilderRootName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/);
