/** Orders versions without a solver, in the same order as libsolv. */
import { describe, expect, it } from "vitest";
import { evr } from "#lib/contract/index";
import { compareEvr, type Evr } from "#lib/solver/evr-order";
import { solverModule } from "#lib/solver/module";
import { openSolver } from "#lib/solver/solver";
import * as fc from "../support/properties.ts";

const piece = fc.constantFrom(
  "1",
  "2",
  "10",
  "012",
  "99999999999999999999",
  "a",
  "b",
  "rc",
  "A",
  "+deb",
  "+dfsg",
  "git",
);
const joint = fc.constantFrom(".", "", "+", "~", ".~");
const written = fc
  .array(fc.tuple(joint, piece), { maxLength: 4 })
  .map((pieces) => `1${pieces.map((pair) => pair.join("")).join("")}`);
const anEvr: fc.Arbitrary<Evr> = fc.record({
  epoch: fc.constantFrom(0, 0, 1, 12),
  version: written,
  release: written,
});

describe.each(["rpm", "deb"] as const)("versions of %s", (type) => {
  it("have the same order as in libsolv", async () => {
    const solver = await openSolver(solverModule, "x86_64", type);
    const sameAsLibsolv = (left: Evr, right: Evr): void =>
      void expect(Math.sign(compareEvr(type, left, right)), `${evr(left)} ${evr(right)}`).toBe(
        Math.sign(solver.compareEvr(evr(left), evr(right))),
      );
    fc.assert(fc.property(anEvr, anEvr, sameAsLibsolv), { numRuns: 2000 });
    // Similar versions, because most pairs above differ in the first parts.
    fc.assert(
      fc.property(anEvr, written, (one, other) =>
        sameAsLibsolv(one, { ...one, version: one.version + other.slice(1) }),
      ),
      { numRuns: 1000 },
    );
    solver.close();
  });

  it("with and without a release have an order", () => {
    const one = { epoch: 0, version: "1.0", release: "" };
    expect(compareEvr(type, one, { ...one, release: "1" })).toBeLessThan(0);
    expect(compareEvr(type, one, one)).toBe(0);
  });
});

it("puts an update of Debian after what it updates", () => {
  const [older, newer] = ["3+deb13u10", "3+deb13u11"].map((release) => ({ epoch: 0, version: "1.26.3", release }));
  expect(older && newer && compareEvr("deb", older, newer)).toBeLessThan(0);
});
