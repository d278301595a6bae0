import { expect, it } from "vitest";
import { isServed, protocolVersion } from "#lib/contract/index";

it("serves this version of the protocol, the one before, and newer ones", () => {
  expect([protocolVersion - 1, protocolVersion, protocolVersion + 1].map((each) => isServed(each))).toEqual([
    true,
    true,
    true,
  ]);
  expect(isServed(protocolVersion - 2)).toBe(false);
});

it("treats a peer that reports no version as version 0", () => {
  expect(isServed()).toBe(isServed(0));
});
