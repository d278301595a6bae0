import { volume } from "#lib/configuration/lists";
import { bool, countedOf, fields, inside, oneOf, text } from "#lib/wire/field";

/** How a disk is divided. */
export const divisions = ["lvm", "partitions"] as const;

/** Volumes stay stored while LVM is off, but are not shown. */
const isEnabled = ({ enabled }: { enabled: boolean }) => enabled;

export const lvm = fields({
  enabled: bool("enabled", true).asked("Divide the disk", {
    page: "machine",
    hint: "Gives directories such as /home and /var their own space on the disk.",
  }),
  kind: oneOf("kind", divisions, "lvm")
    .inXmlWhen(() => false) // XML has exactly the elements that clients know
    .when(isEnabled)
    .initially("lvm")
    .asked("Divide it into", {
      page: "machine",
      hint: "Volumes need the package lvm2. Partitions need nothing, and the root takes the rest of a larger disk.",
      options: [
        ["lvm", "volumes (LVM)"],
        ["partitions", "partitions"],
      ],
      usedWith: "lvm",
    }),
  volume_group: text("volumeGroup", "roomVG")
    .when(isEnabled)
    // Names that vgcreate accepts, short enough for the device mapper together with the name of a volume.
    .like(
      /^((?!\.{1,2}$)[A-Za-z0-9_+.][A-Za-z0-9_+.-]{0,62})?$/,
      "must be 1 to 63 of a-z, A-Z, 0-9, _ + . -, and not begin with -",
    )
    .asked("Name of the volume group", {
      page: "machine",
      hint: "Of LVM: 1 to 63 letters, digits, and _ + . -",
      usedWith: "lvm",
    }),
  volumes: inside("volumes", countedOf("volume", volume)).unlessEmpty().when(isEnabled),
});
