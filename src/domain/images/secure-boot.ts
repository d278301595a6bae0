import { productOf } from "#lib/contract/index";
import type { Issue } from "#domain/appliances/issue";
import { firmwareOf, type BootFacts } from "#domain/images/firmware";

type Facts = BootFacts & { packages: readonly { name: string }[] };

/** Reports why an image that has signed boot loaders among its packages would not boot with Secure Boot. */
export function secureBootIssues(image: Facts): Issue[] {
  const signed = image.baseSystem.secureBoot ?? [];
  const names = new Set(image.packages.map(({ name }) => name));
  const [present] = signed.filter((name) => names.has(name));
  if (present === undefined) return [];
  if (!productOf(image.imageType).startsAlone) return [withoutEffect(present, image)];
  const missing = signed.filter((name) => !names.has(name));
  if (missing.length > 0) return missing.map((name) => withoutHalf(present, name));
  return firmwareOf(image) === "uefi" ? [...names].filter(isUnsigned).map(unsignedKernel) : [];
}

/**
 * Whether this is Debian's name for a kernel that was built but not signed. The build checks the signature of every
 * kernel.
 */
const isUnsigned = (name: string): boolean => /^linux-image-.*-unsigned$/.test(name);

const withoutEffect = (present: string, { imageType }: Facts): Issue => ({
  type: "warning",
  text: `The package ${present} is for Secure Boot, which ${imageType} images do not support, because they have no boot loader. Choose a disk such as oem, or a medium (iso, oemiso).`,
});

const withoutHalf = (present: string, missing: string): Issue => ({
  type: "warning",
  text: `The package ${present} is for Secure Boot, but ${missing} is not selected: the image does not boot with Secure Boot.`,
  solution: { type: "install", package: missing },
});

const unsignedKernel = (kernel: string): Issue => ({
  type: "error",
  text: `The image uses Secure Boot, but the kernel in ${kernel} is not signed. Machines would refuse to boot it.`,
  solution: { type: "remove", package: kernel },
});
