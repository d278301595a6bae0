import type { Configuration } from "#lib/configuration/stored";
import { marked, type XmlMarked } from "#lib/wire/xml";

export type LvmFacts = Configuration["lvm"];

/** Adds LVM volumes to a disk's `<type>`; live media and network trees have none. With LVM, /boot is a separate partition. */
export function withVolumes(type: XmlMarked, lvm: LvmFacts | undefined): XmlMarked {
  if (!lvm?.enabled || type.attributes["image"] !== "oem" || typeof type.value === "string") return type;
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
