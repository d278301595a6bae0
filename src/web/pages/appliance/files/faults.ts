import { metadataNames } from "#domain/contents/overlay-file-metadata";
import type { Refusal } from "#domain/refusal";

/** A message about a refused value begins with its parameter's name. `placeField` has both directory and name. */
export const faultsOfFile =
  (placeField?: string) =>
  ({ code, message }: Refusal): Record<string, string> => {
    const name = code === "invalid_value" && metadataNames.find((one) => message.startsWith(`${one} `));
    if (!name) return {};
    const isPlace = placeField !== undefined && (name === "path" || name === "filename");
    return { [isPlace ? placeField : name]: message.charAt(0).toUpperCase() + message.slice(1) };
  };
