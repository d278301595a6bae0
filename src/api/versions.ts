import { imageTypes, type ImageType } from "#lib/contract/index";

/** The differences between v1 and v2 (compatibility.md, "Differences of v1"). */
export interface ApiVersion {
  name: "v1" | "v2";
  /** GET api_version. */
  number: string;
  /** Status of an unknown id in the path: v1 clients recover only from a 400. */
  unknownIdStatus: 400 | 404;
  /** The image types that can be built. v1 lacks only those that the specification reserves for v2. */
  imageTypes: readonly ImageType[];
}

/** All image types that v1 ever had, and those that v2 added. Messages list them in this order. */
const firstTypes: readonly ImageType[] = ["xen", "oem", "vmx", "iso"];
const addedByV2: readonly ImageType[] = ["ec2", "net", "oemiso"];
const ownTypes = imageTypes.filter((type) => ![...firstTypes, ...addedByV2].includes(type));

export const v1: ApiVersion = {
  name: "v1",
  number: "1.1",
  unknownIdStatus: 400,
  imageTypes: [...firstTypes, ...ownTypes],
};

export const v2: ApiVersion = {
  name: "v2",
  number: "2.0",
  unknownIdStatus: 404,
  imageTypes: [...firstTypes, ...imageTypes.filter((type) => !firstTypes.includes(type))],
};
