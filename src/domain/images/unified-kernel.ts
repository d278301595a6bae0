import type { Issue } from "#domain/appliances/issue";
import { canHaveUnifiedKernel, firmwareOf, type BootFacts } from "#domain/images/firmware";

/** Reports why an image would not get a kernel that its owner can sign, although it has the package for it. */
export function unifiedKernelIssues(image: BootFacts): Issue[] {
  const { baseSystem, packages, imageType } = image;
  const [first] = baseSystem.unifiedKernel ?? [];
  if (first === undefined || !packages.some(({ name }) => name === first)) return [];
  const what = `The package ${first} adds a kernel that you can sign, but`;
  if (!canHaveUnifiedKernel(imageType))
    return [
      { type: "warning", text: `${what} only to disks, and not to ${imageType} images. Choose a disk such as oem.` },
    ];
  const [loader] = baseSystem.efiBootLoaders ?? [];
  if (loader === undefined || firmwareOf(image) !== "bios") return [];
  const text = `${what} the image boots only by BIOS, which checks no signature.`;
  return [{ type: "warning", text, solution: { type: "install", package: loader } }];
}
