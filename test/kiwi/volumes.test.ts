import { XMLParser } from "fast-xml-parser";
import { describe, expect, it } from "vitest";
import type { ImageType } from "#lib/contract/index";
import { kiwiDescription } from "#lib/kiwi/description";
import { plain } from "./support/facts.ts";

const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "@", parseTagValue: false });
const volumes = [
  { path: "/srv", sizeMb: 4000 },
  { path: "/var/lo_g", sizeMb: 300 },
];

function typeOf(change: { volumes?: typeof volumes; enabled?: boolean; imageType?: ImageType }) {
  const { enabled = true, imageType = "oem" } = change;
  const lvm = { enabled, kind: "lvm" as const, volumeGroup: "kioskVG", volumes: change.volumes ?? volumes };
  return parser.parse(kiwiDescription({ ...plain, imageType, lvm })).image.preferences.type;
}

describe("withVolumes", () => {
  it("gives each path a volume, and root the remaining space", () => {
    const { systemdisk, "@bootpartition": boot } = typeOf({});
    expect(boot).toBe("true");
    expect(systemdisk["@name"]).toBe("kioskVG");
    expect(systemdisk.volume).toMatchObject([
      { "@name": "@root", "@freespace": "all" },
      { "@name": "lv1_srv", "@mountpoint": "srv", "@size": "4000M" },
      { "@name": "lv2_var_lo_g", "@mountpoint": "var/lo_g", "@size": "300M" },
    ]);
  });

  it("makes / the root volume with its own size", () => {
    const { systemdisk } = typeOf({ volumes: [{ path: "/", sizeMb: 2000 }] });
    expect(systemdisk.volume).toMatchObject({ "@name": "@root", "@size": "2000M" });
  });

  it.each([{ enabled: false }, { imageType: "iso" as const }])("changes nothing for %j", (change) => {
    expect(typeOf(change).systemdisk).toBeUndefined();
  });
});
