import { XMLValidator } from "fast-xml-parser";
import { expect, it } from "vitest";
import { vesselOf } from "../../../src/web/parts/picture.tsx";

it("gives 28 appliances in a row different pictures, each a whole SVG in its address", () => {
  const all = Array.from({ length: 28 }, (_, nth) => vesselOf(1000 + nth));
  expect(new Set(all).size).toBe(28);
  for (const address of all) {
    expect(address).toMatch(/^data:image\/svg\+xml,%3Csvg [^#"<>\n]+%3C\/svg%3E$/);
    expect(XMLValidator.validate(decodeURIComponent(address.replace("data:image/svg+xml,", "")))).toBe(true);
  }
});
