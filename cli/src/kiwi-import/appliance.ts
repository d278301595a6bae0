import { defaultArch } from "../commands/appliances.ts";
import { digestOf } from "../appliance-file/write.ts";
import type { Imported, ImportedFile } from "../kiwi.ts";

/** The options of an import. */
interface Wishes {
  base: string | undefined;
  arch: string | undefined;
  name: string | undefined;
  /** Omits the versions of packages. */
  unpinned: boolean;
}

/**
 * An imported description for `appliance.yaml`. Passwords become references to variables. As in an export, there is no
 * version, because a file with one would set it back after each build.
 */
export function applianceOf({ definition, files }: Imported, { base, arch, name, unpinned }: Wishes) {
  const { configuration, packages, ...rest } = definition;
  const { users, databases } = configuration;
  const { name: title, base_system: system, arch: described, version: _, type, ...lists } = rest;
  const wantedName = name ?? title;
  const wantedBase = base ?? system;
  return {
    ...(wantedName !== undefined && { name: wantedName }),
    ...(wantedBase !== undefined && { base_system: wantedBase }),
    // A KIWI description may have no architecture.
    arch: arch ?? described ?? defaultArch,
    ...(type && { type }),
    ...lists,
    packages: unpinned ? packages.map((one) => ({ name: one.name })) : packages,
    configuration: {
      ...configuration,
      ...(users && { users: users.map((one) => ({ ...one, password: passwordOf("PASSWORD", one.name) })) }),
      ...(databases && {
        databases: databases.map((one) => ({
          ...one,
          users: one.users.map((user) => ({ ...user, password: passwordOf("DATABASE_PASSWORD", user.username) })),
        })),
      }),
    },
    files: files.map(fileOf),
  };
}

const passwordOf = (kind: string, name: string) => ({ env: `${kind}_${name.replaceAll(/\W/g, "_").toUpperCase()}` });

const fileOf = ({ content, ...place }: ImportedFile) => ({
  ...place,
  enabled: true,
  size: content.byteLength,
  sha256: digestOf(content),
});
