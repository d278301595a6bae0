import { imageTypes, type ImageType } from "#contract/index";

export const formats = imageTypes;

/** What each format is for. */
export const formatWords: Readonly<Record<ImageType, string>> = {
  oem: "disk or USB stick",
  iso: "live medium",
  vmx: "VMware",
  xen: "Xen",
  ec2: "Amazon EC2",
  net: "network boot",
  oemiso: "installer",
};
