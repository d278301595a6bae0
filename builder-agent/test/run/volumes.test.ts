import { describe, expect, it } from "vitest";
import { refuseVolumes } from "../../src/run/refusals.ts";

const described = (inside: string) => ({ description: { "config.xml": `<image><type>${inside}</type></image>` } });
const volumes = described('<systemdisk name="kioskVG"/>');

describe("refuseVolumes", () => {
  it("refuses volumes if the builder's kernel has no device mapper", () => {
    expect(() => refuseVolumes(volumes, "/no/such/file")).toThrow(/no device mapper/);
    expect(() => refuseVolumes(volumes, "/dev/null")).not.toThrow();
  });

  it("accepts plain disks", () => {
    expect(() => refuseVolumes(described(""), "/no/such/file")).not.toThrow();
  });
});
