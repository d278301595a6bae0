/** Finds installed packages with newer versions. Compared with a simple search that uses libsolv's order. */
import { expect, it } from "vitest";
import { evr, type InstalledPackage, type PackageType } from "#lib/contract/index";
import { newerPackages, type OfferedPackage } from "#domain/updates/newer-packages";
import type { UpdateSource } from "#model/image-updates";
import { solverModule } from "#lib/solver/module";
import { openSolver, type Solver } from "#lib/solver/solver";
import * as fc from "../support/properties.ts";

const arches = { rpm: ["noarch", "i586", "x86_64"], deb: ["all", "amd64"] } as const;

const sources: readonly UpdateSource[] = [
  { id: 1, name: "main", priority: 99, purpose: null },
  { id: 2, name: "security", priority: 99, purpose: "security" },
  { id: 3, name: "updates", priority: 99, purpose: "updates" },
  { id: 4, name: "preferred", priority: 50, purpose: null },
];

const version = fc.constantFrom("1.0", "1.0~rc1", "1.0+deb12u1", "1.1", "1.10", "2", "1.0~rc1~2");
const release = fc.constantFrom("", "1", "1~deb12u2", "2", "10");
const epoch = fc.constantFrom(0, 0, 0, 1, 2);
const name = fc.constantFrom("bash", "curl", "nano", "zlib");

const installedOf = (type: PackageType): fc.Arbitrary<InstalledPackage> =>
  fc.record({
    name,
    version,
    release,
    epoch: epoch.map((number) => (number === 0 ? undefined : String(number))),
    arch: fc.constantFrom(...arches[type]),
  });

const offeredOf = (type: PackageType): fc.Arbitrary<OfferedPackage> =>
  fc.record({
    name,
    version,
    release,
    epoch,
    arch: fc.constantFrom(...arches[type]),
    repositoryId: fc.constantFrom(1, 1, 2, 3, 4),
  });

/** Compares every pair of packages. */
function simply(solver: Solver, type: PackageType, installed: InstalledPackage[], offered: OfferedPackage[]) {
  const [universal, machine] = [arches[type][0], arches[type].at(-1)];
  const isAfter = (one: Parameters<typeof evr>[0], other: Parameters<typeof evr>[0]) =>
    solver.compareEvr(evr(one), evr(other)) > 0;
  const found = new Map<string, { available: string; isSecurity: boolean }>();
  for (const one of installed) {
    const rivals = installed.filter((other) => other.name === one.name && other.arch === one.arch);
    if (rivals.some((other) => isAfter(other, one))) continue;
    const same = offered.filter(
      ({ name: other, arch }) =>
        other === one.name && (arch === one.arch || arch === universal || (one.arch === universal && arch === machine)),
    );
    const preferred = same.filter(({ repositoryId }) => repositoryId === 4);
    const newer = (preferred.length > 0 ? preferred : same).filter((other) => isAfter(other, one));
    const newest = newer.filter((other) => !newer.some((rival) => isAfter(rival, other)));
    if (newest[0] === undefined) continue;
    const available = newest.map(evr).toSorted().join(" or ");
    found.set(`${one.name} ${one.arch}`, { available, isSecurity: newer.some((other) => other.repositoryId === 2) });
  }
  return found;
}

it.each(["rpm", "deb"] as const)("finds what a search of all pairs finds, for %s", async (type) => {
  const solver = await openSolver(solverModule, "x86_64", type);
  let updates = 0;
  const lists = fc.tuple(fc.array(installedOf(type), { maxLength: 8 }), fc.array(offeredOf(type), { maxLength: 20 }));
  fc.assert(
    fc.property(lists, ([installed, packages]) => {
      const expected = simply(solver, type, installed, packages);
      const found = newerPackages(installed, {
        packageType: type,
        arches: arches[type],
        repositories: sources,
        packages,
      });
      updates += found.updates.length;
      expect(found.updates.map((one) => `${one.name} ${one.arch}`).toSorted()).toEqual([...expected.keys()].toSorted());
      for (const one of found.updates) {
        const wanted = expected.get(`${one.name} ${one.arch}`);
        expect(wanted?.available.split(" or ")).toContain(one.available);
        expect(one.isSecurity).toBe(wanted?.isSecurity);
      }
    }),
    { numRuns: 400 },
  );
  solver.close();
  expect(updates).toBeGreaterThan(200);
});

const bash = { name: "bash", version: "5.2", release: "1", arch: "amd64" };
const offered = (text: string, repositoryId: number, number = 0): OfferedPackage => {
  const [upstream = "", revision = ""] = text.split("-");
  return { name: "bash", epoch: number, version: upstream, release: revision, arch: "amd64", repositoryId };
};
const compared = (packages: OfferedPackage[], installed: InstalledPackage = bash) =>
  newerPackages([installed], { packageType: "deb", arches: arches.deb, repositories: sources, packages });

it("calls an update a security update if only a version in between is one", () => {
  const { updates } = compared([offered("5.2-2", 2), offered("5.3-1", 1)]);

  expect(updates).toMatchObject([{ available: "5.3-1", isSecurity: true, repository: { name: "main" } }]);
});

it("names the first repository of those with the newest version", () => {
  const { updates } = compared([offered("5.2-2", 2), offered("5.2-2", 1)]);

  expect(updates).toMatchObject([{ isSecurity: true, repository: { name: "main" } }]);
});

it("ignores a fixed version that is older than the installed one", () => {
  expect(compared([offered("5.1-9", 2)])).toEqual({ updates: [], unlisted: 0 });
});

it("orders tildes and epochs as the distribution does", () => {
  expect(compared([offered("5.2-1~bpo1", 1)]).updates).toEqual([]);
  expect(compared([offered("1.0-1", 1, 1)]).updates).toMatchObject([{ installed: "5.2-1", available: "1:1.0-1" }]);
  expect(compared([offered("9.0-1", 1)], { ...bash, epoch: "1" }).updates).toEqual([]);
});

it("counts packages that no repository has", () => {
  expect(compared([])).toEqual({ updates: [], unlisted: 1 });
});
