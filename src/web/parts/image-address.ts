import type { Build } from "#storage/builds";

/** Where an image is downloaded. It needs no credentials, and cannot be guessed. Its bills have the same address with a suffix. */
export const imageAddress = ({ downloadToken, fileName }: Pick<Build, "downloadToken" | "fileName">): string =>
  `/download/${downloadToken}/${encodeURIComponent(fileName ?? "")}`;
