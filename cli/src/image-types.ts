/** The contract's list of image types. In a separate file, because the contract's index would import all of zod. */
export { imageTypes } from "../../src/lib/contract/image-formats.ts";
export type { ImageType } from "../../src/lib/contract/image-type.ts";
