import { metadataNames, parseChanges } from "#domain/contents/overlay-file-metadata";
import type { Refusal } from "#domain/refusal";

/** Checks each value of a file's metadata alone. */
export const checksOfFile = (given: Readonly<Record<string, string | undefined>>) =>
  metadataNames.map((name) => () => {
    const value = given[name];
    if (value !== undefined) parseChanges({ [name]: value });
  });

/** The labels of the fields, which messages name instead of the parameters. */
const labels = {
  filename: "Name",
  path: "Directory",
  owner: "Owner",
  group: "Group",
  permissions: "Mode",
  enabled: "Builds copy it",
} satisfies Record<(typeof metadataNames)[number], string>;

/** A message about a refused value begins with its parameter's name. `placeField` has both directory and name. */
export const faultsOfFile =
  (placeField?: string) =>
  ({ code, message }: Refusal): Record<string, string> => {
    const name = code === "invalid_value" && metadataNames.find((one) => message.startsWith(`${one} `));
    if (!name) return {};
    const isPlace = placeField !== undefined && (name === "path" || name === "filename");
    return { [isPlace ? placeField : name]: labels[name] + message.slice(name.length) };
  };
