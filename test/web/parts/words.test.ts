import { describe, expect, it } from "vitest";
import { cut } from "../../../src/web/parts/words.ts";

describe("cut", () => {
  it.each([
    ["Kiosk", 5, "Kiosk"],
    ["Kiosks", 5, "Kios…"],
    ["Kio sk", 5, "Kio…"],
  ])("cuts %s to %i characters", (text, most, shown) => expect(cut(text, most)).toBe(shown));

  it("cuts no emoji in half, because an address cannot contain one", () => {
    expect(encodeURIComponent(cut("🔥🔥🔥", 4))).toBe(encodeURIComponent("🔥…"));
  });
});
