import { expect, it } from "vitest";
import { controlsIn, wantedControls } from "#lib/repodata/deb-control";

const bash = "Package: bash\nVersion: 5.2-1\nArchitecture: amd64\nDepends: libc6\n";
const bashOld = bash.replace("5.2-1", "5.1-1");
const lateName = "Version: 0:1.0\nArchitecture: all\npackage:  tzdata\n";

const found = (controls: string, ...wanted: string[]) => [...wantedControls(controls, new Set(wanted))];

it("finds paragraphs by name, version and architecture, wherever they stand", () => {
  const controls = [bash, bashOld, lateName].join("\n");
  expect(found(controls, "bash 5.1-1 amd64")).toEqual([["bash 5.1-1 amd64", bashOld]]);
  expect(found(controls, "tzdata 1.0 all", "bash 5.2-1 amd64")).toEqual([
    ["bash 5.2-1 amd64", bash],
    ["tzdata 1.0 all", lateName],
  ]);
  expect(found(controls, "bash 5.2-1 arm64", "bas 5.2-1 amd64", "libc6 1 amd64")).toEqual([]);
});

it.each([
  ["between several empty lines", `\n\n${bash}\n\n\n${lateName}`],
  ["without a line break at the end", `${lateName}\n${bash.trimEnd()}`],
])("finds a paragraph %s", (_, controls) => {
  expect(found(controls, "bash 5.2-1 amd64").map(([, text]) => text.trimEnd())).toEqual([bash.trimEnd()]);
});

it("keeps only what a package manager needs", () => {
  const slice = `${bash}Description: a shell\n with a second line\nSHA256: 00\n`;
  expect(controlsIn(new TextEncoder().encode(slice))).toBe(`${bash}\n`);
});
