import type { Configuration } from "#lib/configuration/stored";
import type { Part } from "#lib/kiwi/part";
import { shellCommand } from "#lib/kiwi/shell";
import { megabytesOf, type VolumesRead } from "#lib/kiwi/volumes";
import type { XmlNode } from "#lib/wire/read-xml";
import { marked, type XmlMarked } from "#lib/wire/xml";

type Division = Configuration["lvm"] | undefined;
type Directories = Configuration["lvm"]["volumes"];

/** The directories that have their own partition. */
export const partitionsOf = (lvm: Division): Directories =>
  lvm?.enabled && lvm.kind === "partitions" ? lvm.volumes : [];

/**
 * Adds partitions to a disk's `<type>`, before that of the root, so that the root can grow. They have its file system.
 */
export function withPartitions(type: XmlMarked, lvm: Division): XmlMarked {
  const directories = partitionsOf(lvm);
  if (directories.length === 0 || type.attributes["image"] !== "oem" || typeof type.value === "string") return type;
  const { filesystem = "" } = type.attributes;
  const partition = directories.map(({ path, sizeMb }, at) =>
    // KIWI has its own names, such as root, and makes a label of the name.
    marked({ name: `part${at + 1}`, size: `${sizeMb}M`, mountpoint: path, filesystem }, {}),
  );
  return marked(type.attributes, { ...type.value, partitions: { partition } });
}

/** KIWI fills a partition from its directory, which must exist. */
export const partitionsPart = ({ lvm }: { lvm?: Division }): Part => ({
  commands: partitionsOf(lvm).map(({ path }) => shellCommand("mkdir", "-p", path)),
});

/** Reads `<partitions>` by any author. */
export function partitionsIn(
  { children }: XmlNode,
  fileSystem: string | undefined,
  omit: (why: string, what: string) => void,
): VolumesRead {
  const volumes = children.flatMap(({ attributes }) => {
    const what = `type/partitions/partition ${attributes.get("name")}`;
    const path = attributes.get("mountpoint");
    const size = megabytesOf(attributes.get("size") ?? "");
    for (const attribute of attributes.keys())
      if (!readAttributes.has(attribute)) omit("appliances have nothing like it", `${what}/${attribute}`);
    if (path === undefined || size === undefined) {
      omit("an appliance gives each partition a directory and a size", what);
      return [];
    }
    if (attributes.get("filesystem") !== fileSystem)
      omit("all partitions of an appliance have the file system of its root", `${what}/filesystem`);
    return [{ size, path }];
  });
  return { enabled: true, kind: "partitions", volumes };
}

const readAttributes = new Set(["name", "size", "mountpoint", "filesystem"]);
