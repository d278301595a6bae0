import { describe, expect, it } from "vitest";
import { descriptionFiles } from "#lib/kiwi/description-files";
import type { ImageFacts } from "#lib/kiwi/facts";
import { plain } from "./support/facts.ts";
import { imported } from "./support/imported.ts";

const volumes = [
  { path: "/home", sizeMb: 400 },
  { path: "/var", sizeMb: 900 },
];
const divided: ImageFacts = { ...plain, lvm: { enabled: true, kind: "partitions", volumeGroup: "", volumes } };
const swapping = (change: Partial<ImageFacts> = {}): ImageFacts => ({
  ...plain,
  ...change,
  settings: { ...plain.settings, swapIn: "partition", swapSizeMb: 256 },
});
const swapFile = "root/usr/lib/kiln/swap";

describe("a disk that is divided into partitions", () => {
  it("has one for each directory, with the file system of the root, which comes last and grows", () => {
    const settings = { ...plain.settings, fileSystem: "xfs" as const };
    const xml = descriptionFiles({ ...divided, settings })["config.xml"];
    expect(xml).toContain('<partition name="part1" size="400M" mountpoint="/home" filesystem="xfs">');
    expect(xml).toContain('<partition name="part2" size="900M" mountpoint="/var" filesystem="xfs">');
    expect(xml).not.toContain("systemdisk");
    expect(xml).toContain('bootpartition="false"');
  });

  it("has the directories, from which KIWI fills them", () => {
    expect(descriptionFiles(divided)["config.sh"]).toContain("\n'mkdir' '-p' '/var'\n");
    expect(descriptionFiles(plain)["config.sh"]).not.toContain("'mkdir' '-p' '/var'");
  });

  it("is only that of a disk", () => {
    expect(descriptionFiles({ ...divided, imageType: "iso" })["config.xml"]).not.toContain("partition");
  });
});

describe("swap in a partition", () => {
  it("is made with the disk, and no file for it", () => {
    const files = descriptionFiles(swapping());
    expect(files["config.xml"]).toMatch(/<oem-swap>true<\/oem-swap>\s*<oem-swapsize>256<\/oem-swapsize>/);
    expect(files[swapFile]).toBeUndefined();
    expect(descriptionFiles(swapping({ imageType: "oemiso" }))["config.xml"]).toContain("<oem-swapsize>");
    expect(descriptionFiles(swapping({ imageType: "iso" }))["config.xml"]).not.toContain("<oem-swapsize>");
  });

  it("is none if its size is 0", () => {
    const settings = { ...plain.settings, swapIn: "partition" as const, swapSizeMb: 0 };
    expect(descriptionFiles({ ...plain, settings })["config.xml"]).not.toContain("oem-swap");
  });
});

const importedType = (inside: string) =>
  imported({
    "config.xml": `<image name="x"><preferences><type image="oem" filesystem="ext4">${inside}</type></preferences></image>`,
  });

describe("importing a disk by another author", () => {
  it("reads partitions and swap, and says what an appliance does not have", () => {
    const partitions = [
      '<partition name="home" size="2G" mountpoint="/home" filesystem="ext4"/>',
      '<partition name="var" size="900" mountpoint="/var" filesystem="xfs" clone="1"/>',
      '<partition name="raw" size="10M"/>',
    ];
    const swap = "<oemconfig><oem-swap>true</oem-swap><oem-swapsize>64</oem-swapsize></oemconfig>";
    const { definition, omitted } = importedType(`<partitions>${partitions.join("")}</partitions>${swap}`);
    expect(definition.configuration.lvm).toEqual({
      enabled: true,
      kind: "partitions",
      volumes: [
        { size: 2048, path: "/home" },
        { size: 900, path: "/var" },
      ],
    });
    expect(definition.configuration.settings).toMatchObject({ swap_in: "partition", swap_size: 64 });
    expect(omitted.map(({ what }) => what).filter((what) => /partition|swap/.test(what))).toEqual([
      "preferences/type/partitions/partition var/clone",
      "preferences/type/partitions/partition var/filesystem",
      "preferences/type/partitions/partition raw",
    ]);
  });

  it("gives a swap partition without a size that of KIWI", () => {
    const { definition } = importedType("<oemconfig><oem-swap>true</oem-swap></oemconfig>");
    expect(definition.configuration.settings).toMatchObject({ swap_in: "partition", swap_size: 128 });
  });
});
