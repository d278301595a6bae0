import { overlayPath } from "#domain/contents/overlay-file-metadata";
import { configurationOf } from "#lib/configuration/stored";
import type { Appliance } from "#storage/appliances";
import type { GpgKey } from "#storage/gpg-keys";
import type { OverlayFile } from "#storage/overlay-files";

/** What each clone gets in addition to the software: kinds of things, and their names. Empty kinds are omitted. */
export type Taken = readonly (readonly [kind: string, names: string])[];

const maxNames = 10;

export function takenBy(
  appliance: Appliance,
  { files, keys }: { files: readonly OverlayFile[]; keys: readonly Pick<GpgKey, "name">[] },
): Taken {
  const { users, scripts } = configurationOf(appliance);
  const kinds = {
    Users: users.map(({ name }) => name),
    Files: files.filter(({ enabled }) => enabled).map(overlayPath),
    Scripts: (["build", "boot", "autoyast"] as const).filter((name) => scripts[name].enabled),
    "GPG keys": keys.map(({ name }) => name),
  };
  return Object.entries(kinds)
    .filter(([, names]) => names.length > 0)
    .map(([kind, names]) => [kind, shortened(names)] as const);
}

const shortened = (names: readonly string[]): string =>
  names.length <= maxNames
    ? names.join(", ")
    : `${names.slice(0, maxNames).join(", ")} and ${names.length - maxNames} more`;
