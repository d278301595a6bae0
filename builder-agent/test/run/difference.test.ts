import { describe, expect, it } from "vitest";
import { differenceOf, remarkOf } from "../../src/run/difference.ts";
import type { InstalledPackage } from "../../src/contract.ts";
import { frozenPackage } from "../support/frozen-input.ts";

const installed = (name: string, more: Partial<InstalledPackage> = {}): InstalledPackage => ({
  name,
  version: "1.0",
  release: "1",
  arch: "noarch",
  ...more,
});

describe("differenceOf", () => {
  it.each([
    ["the same package", frozenPackage("a"), installed("a")],
    ["an epoch of zero, which rpm may omit", frozenPackage("a"), installed("a", { epoch: "0" })],
    ["an epoch", frozenPackage("a", { epoch: 3 }), installed("a", { epoch: "3" })],
  ])("is empty for %s", (_, frozen, reported) => {
    expect(differenceOf([frozen], [reported])).toBeUndefined();
  });

  it.each([
    ["version", { version: "1.1" }],
    ["release", { release: "2" }],
    ["architecture", { arch: "x86_64" }],
    ["epoch", { epoch: "1" }],
  ])("contains another %s on both sides", (_, more) => {
    const difference = differenceOf([frozenPackage("a")], [installed("a", more)]);

    expect(difference?.missing).toEqual(["a-1.0-1.noarch"]);
    expect(difference?.unexpected).toHaveLength(1);
  });
});

describe("remarkOf", () => {
  it("counts all, names a few, and fits into a message", () => {
    const missing = Array.from({ length: 5 }, (_, index) => `${"long".repeat(100)}${index}`);

    const remark = remarkOf({ missing, unexpected: ["b-1.0-1.noarch"] });

    expect(remark).toMatch(/^The image differs .*: 5 missing \(.*, …\); 1 unexpected \(b-1\.0-1\.noarch\)\.$/);
    expect(remark.length).toBeLessThan(500);
  });
});
