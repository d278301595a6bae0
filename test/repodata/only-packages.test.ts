import { expect, it } from "vitest";
import { parseAptAddress, withOnly } from "#lib/repodata/apt-address";
import { onlyPackages } from "#lib/repodata/only-packages";
import { importedParts } from "#lib/solver/import";
import { solverModule } from "#lib/solver/module";
import { openSolver } from "#lib/solver/solver";
import { inChunks } from "./support.ts";

const paragraph = (name: string) =>
  `Package: ${name}\nVersion: 1-1\nArchitecture: all\nDescription: like kiwi-lib, Größe 1\n Package: kiwi-dump\n\n`;

/** The names that an import of a list reads, in slices of that many packages. */
async function imported(list: string, only: readonly string[], records: number): Promise<string[]> {
  const solver = await openSolver(solverModule, "x86_64", "deb");
  const names: string[] = [];
  for await (const part of importedParts(solver, inChunks(list, 50), "deb", { select: onlyPackages(only), records }))
    names.push(...[...part.pages()].flat().map(({ name }) => name));
  return names;
}

it.each([1, 3, 100])("reads only the packages of these names, in slices of %i", async (records) => {
  const list = ["kiwi", "kiwi-dump", "kiwi-dump-x", "other", "kiwi-lib"].map(paragraph).join("");
  expect(await imported(list, ["kiwi-lib", "kiwi-dump", "missing"], records)).toEqual(["kiwi-dump", "kiwi-lib"]);
  expect(await imported(list, ["missing"], records)).toEqual([]);
});

it.each([
  "http://deb.example.org/debian/dists/bookworm#main,contrib",
  "http://deb.example.org/debian/dists/bookworm",
  "http://example.org/flat",
])("keeps the names in the address of %s", (address) => {
  const only = ["kiwi-lib", "g++"];
  expect(withOnly(address, [])).toBe(address);
  expect(parseAptAddress(withOnly(address, only))).toEqual({ ...parseAptAddress(address), only });
});
