import { z } from "zod";
import { arches } from "./architectures.ts";
import { imageTypes } from "./image-formats.ts";

export const ImageType = z.enum(imageTypes);
export type ImageType = z.infer<typeof ImageType>;

/**
 * The firmware that an image boots with, by KIWI's names: only BIOS; `efi`, which means UEFI and BIOS; or `uefi`, which
 * means UEFI with Secure Boot on or off, and BIOS.
 */
export const Firmware = z.enum(["bios", "efi", "uefi"]);
export type Firmware = z.infer<typeof Firmware>;

export const Arch = z.enum(arches);
export type Arch = z.infer<typeof Arch>;

/** The architectures of the machines that an agent starts for testdrives. Absent from older agents, which start PCs. */
export const Machines = z.array(Arch).optional();

/** Whether an agent starts machines of this architecture. An older Worker names none, and has only PCs. */
export const startsMachine = (
  { machines = ["x86_64", "i586"] }: { machines?: readonly Arch[] | undefined },
  arch: Arch = "x86_64",
): boolean => machines.includes(arch);

/** The kind of packages that a distribution consists of. A base system and all its repositories have one kind. */
export const PackageType = z.enum(["rpm", "deb"]);
export type PackageType = z.infer<typeof PackageType>;

export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** The name of a builder root: a separate system with KIWI and its tools, in which builds run. */
export const BuilderRootName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/);
