import { expect, it } from "vitest";
import type { ComparedBuild } from "#domain/difference/builds";
import { buildDifference } from "#domain/difference/builds";
import { releaseNotesText } from "#documents/difference-text";

const compared = (version: string, packages: ComparedBuild["packages"]): ComparedBuild => ({
  build: { version, rawSize: 1, fileSize: 1 } as ComparedBuild["build"],
  input: {
    appliance: { id: 1, name: "Kiosk", version, arch: "x86_64" },
    selection: { packages: [], patterns: [] },
    repositories: [],
  } as unknown as ComparedBuild["input"],
  packages,
});

const many = (version: string, name = "package-with-a-long-name") =>
  Array.from({ length: 5000 }, (_, nth) => ({ name: `${name}-${nth}`, version, arch: "x86_64" }));

it("fits into release notes, whatever has changed", () => {
  const [from, to] = [compared("0.0.1", many("1.0-1")), compared("0.0.2", many("2.0-1"))];

  const text = releaseNotesText({ applianceId: 1, version: "0.0.2", image: to, since: buildDifference(from, to) });

  expect(text.length).toBeLessThan(64 * 1024);
  expect(text).toMatch(
    /^Changes since version 0\.0\.1\n\nPackages\n {2}\* package-with-a-long-name-0 1\.0-1\.x86_64 -> /,
  );
  expect(text).toContain("\n  and 4850 more\n");
});

it("ends with a complete line if the lines themselves are long", () => {
  const [from, to] = [compared("0.0.1", many("1", "ä".repeat(1000))), compared("0.0.2", many("2", "ä".repeat(1000)))];

  const text = releaseNotesText({ applianceId: 1, version: "0.0.2", image: to, since: buildDifference(from, to) });

  expect(new TextEncoder().encode(text).length).toBeLessThan(64 * 1024);
  expect(text).toMatch(/-> 2\.x86_64\n…\n$/);
});

it("says so if only files have changed", () => {
  const one = compared("0.0.1", []);
  const since = buildDifference(one, one);
  expect(releaseNotesText({ applianceId: 1, version: "0.0.2", image: one, since })).toContain("Only the files.");
});

it("names what was selected last first, because a template's packages are in each of its clones", () => {
  const selected = [...Array.from({ length: 20 }, (_, nth) => `of-template-${nth}`), "nginx"];
  const image = compared("0.0.1", many("1.0-1"));
  image.input.selection.packages = selected.map((name) => ({ name }));
  const text = releaseNotesText({ applianceId: 1, version: "0.0.1", image });
  expect(text).toMatch(/^The first version, with 5000 packages, among them nginx, of-template-19, /);
});

it("counts one package in the singular", () => {
  const image = compared("0.0.1", many("1.0-1").slice(0, 1));
  const text = releaseNotesText({ applianceId: 1, version: "0.0.1", image });
  expect(text).toBe("The first version, with 1 package.\n");
});
