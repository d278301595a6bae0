/** The contract's list of image types. A file of its own, because the contract's index would bring all of zod. */
export { imageTypes } from "../../src/lib/contract/image-formats.ts";
export type { ImageType } from "../../src/lib/contract/image-type.ts";
