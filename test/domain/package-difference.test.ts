import { describe, expect, it } from "vitest";
import { licenseDifference, packageDifference, type ComparedPackage } from "#domain/difference/packages";

const one = (name: string, version: string, more: Partial<ComparedPackage> = {}): ComparedPackage => ({
  name,
  version,
  arch: "x86_64",
  ...more,
});

const describeChanges = (from: ComparedPackage[], to: ComparedPackage[]) =>
  packageDifference(from, to).map(
    ({ change, name, from: was, to: is }) => `${change} ${name} ${was?.version ?? ""}>${is?.version ?? ""}`,
  );

describe("the packages of two images", () => {
  it.each<[string, ComparedPackage[], ComparedPackage[], string[]]>([
    ["no packages on both sides", [], [], []],
    ["the same packages in another order", [one("a", "1"), one("b", "1")], [one("b", "1"), one("a", "1")], []],
    ["an added package", [], [one("a", "1")], ["added a >1"]],
    ["a removed package", [one("a", "1")], [], ["removed a 1>"]],
    ["another version", [one("a", "1")], [one("a", "2")], ["changed a 1>2"]],
    ["another architecture", [one("a", "1")], [one("a", "1", { arch: "noarch" })], ["changed a 1>1"]],
    ["another file", [one("a", "1", { checksum: "x" })], [one("a", "1", { checksum: "y" })], ["changed a 1>1"]],
    ["a checksum that one side lacks", [one("a", "1", { checksum: "x" })], [one("a", "1")], []],
    ["another repository, which does not change the image", [one("a", "1", { repository: "x" })], [one("a", "1")], []],
    [
      "several of one name, one of them replaced",
      [one("kernel", "5"), one("kernel", "6")],
      [one("kernel", "6"), one("kernel", "7")],
      ["changed kernel 5>7"],
    ],
    [
      "several of one name, all replaced",
      [one("kernel", "5"), one("kernel", "6")],
      [one("kernel", "7")],
      ["removed kernel 5>", "removed kernel 6>", "added kernel >7"],
    ],
    [
      "many packages, sorted by name",
      [one("c", "1"), one("a", "1")],
      [one("b", "1"), one("c", "2")],
      ["removed a 1>", "added b >1", "changed c 1>2"],
    ],
  ])("compares %s", (_what, from, to, expected) => {
    expect(describeChanges(from, to)).toEqual(expected);
  });

  it("are reversed if the images are swapped", () => {
    const [from, to] = [
      [one("a", "1"), one("b", "1")],
      [one("b", "2"), one("c", "1")],
    ];
    const mirrored = packageDifference(to, from).map(({ change, name }) => ({
      change: { added: "removed", removed: "added", changed: "changed" }[change],
      name,
    }));
    expect(packageDifference(from, to).map(({ change, name }) => ({ change, name }))).toEqual(mirrored);
  });
});

const licensed = (...licenses: (string | undefined)[]) =>
  licenses.map((license, nth) => one(`p${nth}`, "1", { license }));

describe("the licences of two images", () => {
  it.each<[string, ComparedPackage[], ComparedPackage[], ReturnType<typeof licenseDifference>]>([
    ["the same licences", licensed("MIT"), licensed("MIT", "MIT"), { known: true, added: [], removed: [] }],
    [
      "other licences, in order",
      licensed("MIT", "BSD"),
      licensed("MIT", "Zlib", "GPL"),
      { known: true, added: ["GPL", "Zlib"], removed: ["BSD"] },
    ],
    ["one side without licence data", licensed("MIT"), licensed(undefined), { known: false, added: [], removed: [] }],
  ])("compares %s", (_what, from, to, expected) => {
    expect(licenseDifference(from, to)).toEqual(expected);
  });
});
