import { z } from "zod";

/** Image types that an agent can be asked for (api.md, "Image types"). The API's narrower v1 list lives in src/api/versions.ts. */
export const imageTypes = ["oem", "iso", "vmx", "xen", "ec2", "net", "oemiso"] as const;
export const ImageType = z.enum(imageTypes);
export type ImageType = z.infer<typeof ImageType>;

/** What KIWI makes first: most types are a disk that is put into another shape afterwards. */
export const kiwiTypes: Readonly<Record<ImageType, "oem" | "iso" | "kis">> = {
  oem: "oem",
  iso: "iso",
  vmx: "oem",
  xen: "oem",
  ec2: "oem",
  net: "kis",
  oemiso: "oem",
};

/** What an image boots by: `bios` alone, or `efi`, which is UEFI and BIOS. */
export const Firmware = z.enum(["bios", "efi"]);
export type Firmware = z.infer<typeof Firmware>;

export const Arch = z.enum(["x86_64", "i586"]);
export type Arch = z.infer<typeof Arch>;

export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
