import { describe, expect, it } from "vitest";
import { compareVersions } from "../../src/roots/deb-version.ts";
import { PackagesIndex } from "../../src/roots/packages-index.ts";
import { resolveRoot } from "../../src/roots/resolve.ts";

const origin = { url: "http://mirror", suite: "stable" };
const list = `Package: base-files
Version: 12
Essential: yes

Package: kiwi
Version: 9.24-1
Pre-Depends: libc6 (>= 2.30)
Depends: mta, python3:any (>= 3.9~) | python4, rpm [amd64] | yum

Package: libc6
Version: 2.36-9

Package: python3
Version: 3.9
Provides: python4 (= 4)

Package: yum
Version: 4

Package: rpm
Version: 4.18

Package: exim
Version: 4
Provides: mta

Package: games
Version: 1
`;

const indexOf = (...lists: [text: string, only?: string[]][]) => {
  const index = new PackagesIndex();
  for (const [text, only] of lists) index.add(text, { ...origin, only });
  return index;
};
const namesIn = (index: PackagesIndex, ...wanted: string[]) =>
  resolveRoot(wanted, index).packages.map(({ name, version }) => `${name} ${version}`);

describe("the packages of a builder root", () => {
  it("are those that are wanted or essential, with what they need", () => {
    expect(namesIn(indexOf([list]), "kiwi")).toEqual([
      "base-files 12",
      "exim 4",
      "kiwi 9.24-1",
      "libc6 2.36-9",
      "python3 3.9",
      "rpm 4.18",
    ]);
    expect(resolveRoot(["kiwi", "zypper"], indexOf([list])).missing).toEqual(["zypper"]);
  });

  it("are the newest of all suites, of a suite with `only` no others", () => {
    const newer = "Package: rpm\nVersion: 4.20\n\nPackage: libc6\nVersion: 2.36-9+deb12u1\n";
    expect(namesIn(indexOf([newer, ["rpm"]], [list]), "rpm")).toEqual(["base-files 12", "rpm 4.20"]);
    expect(namesIn(indexOf([list], [newer]), "libc6")).toEqual(["base-files 12", "libc6 2.36-9+deb12u1"]);
  });

  it("take a later alternative if it is chosen already, or if no version of the first fits", () => {
    expect(namesIn(indexOf([list]), "yum", "kiwi")).not.toContain("rpm 4.18");
    const old = list.replace("Version: 3.9", "Version: 3.8");
    expect(namesIn(indexOf([old]), "kiwi")).toContain("python3 3.8"); // chosen as python4
  });

  it("take no second provider of what a chosen package provides", () => {
    const courier = "Package: courier\nVersion: 1\nProvides: mta\n\n";
    expect(namesIn(indexOf([courier + list]), "exim", "kiwi")).toEqual(namesIn(indexOf([list]), "exim", "kiwi"));
    expect(namesIn(indexOf([courier + list]), "kiwi")).toContain("courier 1");
  });

  it("are refused if one needs what no suite has", () => {
    const old = list.replace("Version: 2.36-9", "Version: 2.29");
    expect(() => namesIn(indexOf([old]), "kiwi")).toThrow(
      "The package kiwi needs libc6 (>= 2.30), which no suite has.",
    );
  });
});

describe("versions", () => {
  it.each([
    ["1.0~rc1-1", "1.0-1"],
    ["1.0-1", "1.0-1+b1"],
    ["1.9", "1.10"],
    ["2.0", "1:0.1"],
    ["1.0-1+deb12u9", "1.0-1+deb12u10"],
    ["1.0a", "1.0+"],
    ["1.0", "1.0a"],
    ["20190206.bf6db5b4-3", "20190206.bf6db5b4-3.1"],
  ])("%s comes before %s", (older, newer) => {
    expect(compareVersions(older, newer)).toBeLessThan(0);
    expect(compareVersions(newer, older)).toBeGreaterThan(0);
    expect(compareVersions(newer, newer)).toBe(0);
  });

  it("treats a missing revision as the revision 0", () => {
    expect(compareVersions("1.0", "1.0-0")).toBe(0);
    expect(compareVersions("1.0", "1.0-0.1")).toBeLessThan(0);
  });
});
