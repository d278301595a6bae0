import { expect, it } from "vitest";
import { isLacking, withNewlyFound } from "../src/abilities.ts";
import type { Capabilities } from "../src/contract.ts";

const whole: Capabilities = {
  arches: ["x86_64"],
  imageTypes: ["oem", "iso"],
  packageTypes: ["rpm", "deb"],
  isolation: "vm",
  testdrives: true,
  builder: "9.24.56",
};
const poor: Capabilities = {
  arches: ["x86_64"],
  imageTypes: [],
  lacking: { oem: "KIWI version", iso: "KIWI version" },
  packageTypes: ["rpm"],
  noDeb: "debootstrap",
  noLvm: "lvm2",
  noEfi: { oem: "mtools" },
  isolation: "vm",
  testdrives: false,
  builder: "none",
};

it("keeps every ability that was found once, though probes fail later", () => {
  expect(withNewlyFound(whole, poor)).toEqual({ ...whole, lacking: {} });
});

it("adds what is found later", () => {
  const found = withNewlyFound(poor, whole);
  expect(found).toEqual(whole);
  expect([isLacking(poor), isLacking(found)]).toEqual([true, false]);
});

it("still misses what no examination has found", () => {
  expect(withNewlyFound(poor, { ...poor, imageTypes: ["oem"], lacking: { iso: "KIWI version" } })).toEqual({
    ...poor,
    imageTypes: ["oem"],
    lacking: { iso: "KIWI version" },
  });
});
