import type { Build } from "#storage/builds";

/**
 * The download address of an image. It cannot be guessed, and needs no credentials. The image's bills of materials have
 * the same address with a suffix.
 */
export const imageAddress = ({ downloadToken, fileName }: Pick<Build, "downloadToken" | "fileName">): string =>
  `/download/${downloadToken}/${encodeURIComponent(fileName ?? "")}`;
