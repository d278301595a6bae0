import type { Configuration } from "#lib/configuration/stored";
import type { XmlNode } from "#lib/wire/read-xml";
import { marked, type XmlMarked } from "#lib/wire/xml";

export type LvmFacts = Configuration["lvm"];

/**
 * Adds LVM volumes to a disk's `<type>`; live media and network trees have none. With LVM, /boot is its own partition.
 */
export function withVolumes(type: XmlMarked, lvm: LvmFacts | undefined): XmlMarked {
  if (!lvm?.enabled || lvm.kind !== "lvm" || type.attributes["image"] !== "oem" || typeof type.value === "string")
    return type;
  const volumes = lvm.volumes.map(volume);
  const hasRoot = lvm.volumes.some(({ path }) => path === "/");
  const rest = marked({ name: "@root", freespace: "all" }, {});
  return marked(
    { ...type.attributes, bootpartition: "true" },
    {
      ...type.value,
      systemdisk: marked({ name: lvm.volumeGroup }, { volume: hasRoot ? volumes : [rest, ...volumes] }),
    },
  );
}

function volume({ path, sizeMb }: LvmFacts["volumes"][number], at: number): XmlMarked {
  const size = `${sizeMb}M`;
  if (path === "/") return marked({ name: "@root", size }, {});
  // Volume names allow fewer characters than paths, so the number keeps them unique.
  const name = `lv${at + 1}${path.replaceAll(/[^A-Za-z0-9.+-]/g, "_")}`.slice(0, 60);
  return marked({ name, mountpoint: path.slice(1), size }, {});
}

/** The section `lvm` of a configuration. */
export interface VolumesRead {
  enabled: true;
  kind: LvmFacts["kind"];
  volume_group?: string;
  volumes: { size: number; path: string }[];
}

/** Reads `<systemdisk>`. `@root` is the volume of the whole system. */
export function volumesIn({ attributes, children }: XmlNode, omit: (why: string, what: string) => void): VolumesRead {
  const volumes = children
    .filter(({ name }) => name === "volume")
    .flatMap((one) => {
      const name = one.attributes.get("name") ?? "";
      const mountpoint = one.attributes.get("mountpoint") ?? (name.startsWith("@") ? "" : name);
      const size = megabytesOf(one.attributes.get("size") ?? "");
      for (const attribute of one.attributes.keys())
        if (!volumeAttributes.has(attribute))
          omit("appliances have nothing like it", `type/systemdisk/volume ${name}/${attribute}`);
      if (size !== undefined) return [{ size, path: `/${mountpoint}` }];
      // The volume of the whole system gets the rest, so it needs no size.
      if (name !== "@root") omit("an appliance gives each volume a size", `type/systemdisk/volume ${name}`);
      return [];
    });
  return { enabled: true, kind: "lvm", volume_group: attributes.get("name") ?? "systemVG", volumes };
}

const volumeAttributes = new Set(["name", "mountpoint", "size", "freespace"]);

export function megabytesOf(size: string): number | undefined {
  const [, amount, unit] = /^(\d+)([MG])?$/.exec(size) ?? [];
  return amount === undefined ? undefined : Number(amount) * (unit === "G" ? 1024 : 1);
}
