import { describe, expect, it } from "vitest";
import { solverModule } from "#lib/solver/module";
import { SolverCrashed } from "#lib/solver/native";
import { UnreadableMetadata } from "#lib/solver/repository";
import { openSolver, type Solver } from "#lib/solver/solver";
import { SearchTooLong } from "#lib/solver/wasi";
import { jobOf, loaded, primaryXmlOf, repo } from "./repo-dsl.ts";
import { rpmHeader } from "./rpm-file.ts";

const rounds = 150;
const seeds = Array.from({ length: rounds }, (_, seed) => seed + 1);

describe("damaged input", () => {
  it("of a part gives an error or loads, and nothing else", async () => {
    const part = await writtenPart();
    const outcomes = await attempt(part, (solver, bytes) => solver.addRepository("main").loadPart(bytes));
    expect(outcomes.unreadable).toBeGreaterThan(0);
    expect(outcomes.fine + outcomes.unreadable + outcomes.crashed).toBe(rounds);
  });
  it("of primary.xml gives an error or loads, and the instance survives", async () => {
    const xml = new TextEncoder().encode(
      primaryXmlOf(["a-1 requires (b or c), d = 1:2-3", "b-1 files /usr/bin/b", "d-1:2-3"]),
    );
    const outcomes = await attempt(xml, (solver, bytes) => solver.addRepository("main").readPrimary(bytes));
    expect(outcomes).toMatchObject({ crashed: 0 });
    expect(outcomes.unreadable).toBeGreaterThan(0);
  });
  it("of an rpm gives an error or loads, and the instance survives", async () => {
    const whole = rpmHeader({ name: "a", version: "1", release: "1", arch: "noarch", requires: ["b", "c"] });
    const outcomes = await attempt(whole, (solver, header) => {
      solver.addRepository("main").readRpm({ header, location: "a.rpm", sha256: "0".repeat(64), sizeBytes: 1 });
    });
    expect(outcomes).toMatchObject({ crashed: 0 });
    expect(outcomes.unreadable).toBeGreaterThan(0);
  });
  it("of susetags gives an error or loads, and the instance survives", async () => {
    const text = "=Ver: 2.0\n=Pkg: a 1.0 1 x86_64\n+Req:\nb >= 2\n-Req:\n=Siz: 100 200\n=Pkg: b 2.1 1 noarch\n";
    const outcomes = await attempt(new TextEncoder().encode(text), (solver, bytes) => {
      solver.addRepository("main").readSusetags(bytes);
    });
    expect(outcomes).toMatchObject({ crashed: 0 });
  });
});

describe("a search without end", () => {
  it("of places for too many packages exits", async () => {
    const holes = 12;
    const range = Array.from({ length: holes + 1 }, (_, at) => at);
    const pigeons = range.flatMap((x) =>
      range.slice(1).map((y) => {
        const others = range.filter((other) => other !== x).map((other) => `x${other}y${y}`);
        return `x${x}y${y}-1 provides pigeon${x} conflicts ${others.join(", ")}`;
      }),
    );
    const all = `all-1 requires ${range.map((x) => `pigeon${x}`).join(", ")}`;
    const solver = await loaded(solverModule, repo(all, ...pigeons));
    expect(() => solver.solve([jobOf("all")])).toThrow(expect.objectContaining({ cause: expect.any(SearchTooLong) }));
    expect(solver.isGone).toBe(true);
  });

  it("of the meanings of a dependency exits, too", async () => {
    const terms = Array.from({ length: 18 }, (_, at) => `(x${at} and y${at})`);
    const names = terms.flatMap((_, at) => [`x${at}-1`, `y${at}-1`]);
    const solver = await loaded(solverModule, repo(`a-1 requires (${terms.join(" or ")})`, ...names));
    expect(() => solver.solve([jobOf("a")])).toThrow(SolverCrashed);
  });
});

describe("a dependency that is too long", () => {
  it.each([
    ["by its depth", `${"(".repeat(100_000)}b${")".repeat(100_000)}`],
    ["by its words", `(${Array.from({ length: 300 }, () => "b").join(" or ")})`],
  ])("%s counts as missing", async (_, dependency) => {
    const solver = await loaded(solverModule, repo(`a-1 requires ${dependency}`, "b-1"));
    expect(solver.solve([jobOf("a")])).toMatchObject({ state: "unsolvable" });
    expect(solver.solve([jobOf("b")])).toMatchObject({ state: "solved" });
  });

  it("is longer than real ones", async () => {
    const dependency = `(${Array.from({ length: 100 }, () => "b").join(" or ")})`;
    const solver = await loaded(solverModule, repo(`a-1 requires ${dependency}`, "b-1"));
    expect(solver.solve([jobOf("a")])).toMatchObject({ state: "solved" });
  });
});

describe("invalid package names", () => {
  const smuggled = [
    "a\tb",
    "a\nban\tname\tb",
    "a = 1",
    "a >= 1",
    "a*",
    "a?",
    "[ab]",
    "a b",
    "-a",
    "!a",
    "(a or b)",
    "",
    "a\0b",
  ];

  it.each(smuggled)("are refused: %j", async (name) => {
    const solver = await loaded(solverModule, repo("a-1"));
    expect(() => solver.solve([{ kind: "install", name }])).toThrow("not a name");
    expect(() => solver.solve([{ kind: "ban", name }])).toThrow("not a name");
    expect(() => solver.solve([{ kind: "installPattern", name }])).toThrow("not a name");
    expect(() => solver.solve([{ kind: "install", name: "a", version: `1${name}\n` }])).toThrow("not a version");
  });
  it("do not include names that rpm allows", async () => {
    const names = ["a", "libstdc++6", "python3.11", "_x", "kernel-default", "389-ds", "gtk+2.0", "A_b-c.d+e"];
    const solver = await loaded(solverModule, repo(...names.map((name) => `${name}-1`)));
    expect(solver.solve(names.map(jobOf))).toMatchObject({ state: "solved", unmatched: [] });
  });
});

interface Outcomes {
  fine: number;
  unreadable: number;
  crashed: number;
}

/**
 * Loads damaged copies of `whole` into new instances, solves with the loaded packages, and counts outcomes. Throws on
 * any other.
 */
async function attempt(whole: Uint8Array, feed: (solver: Solver, bytes: Uint8Array) => void): Promise<Outcomes> {
  const outcomes: Outcomes = { fine: 0, unreadable: 0, crashed: 0 };
  for (const seed of seeds) {
    const solver = await openSolver(solverModule);
    outcomes[endOf(() => use(solver, damaged(whole, seed), feed))] += 1;
  }
  return outcomes;
}

function use(solver: Solver, bytes: Uint8Array, feed: (solver: Solver, bytes: Uint8Array) => void): void {
  feed(solver, bytes);
  solver.ready();
  solver.solve([jobOf("a")]);
  solver.search("a", { allFields: true });
  solver.info("a");
}

function endOf(work: () => void): keyof Outcomes {
  try {
    work();
    return "fine";
  } catch (error) {
    if (error instanceof UnreadableMetadata) return "unreadable";
    if (error instanceof SolverCrashed) return "crashed";
    throw error;
  }
}

/** Truncates every third copy, and changes up to eight bytes in the others. The same seed gives the same damage. */
function damaged(whole: Uint8Array, seed: number): Uint8Array {
  let state = seed * 2_654_435_761;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const copy = whole.slice(0, seed % 3 === 0 ? below(whole.length) : whole.length);
  if (seed % 3 !== 0) for (let count = below(8); count >= 0; count--) copy[below(copy.length)] = below(256);
  return copy;
}

async function writtenPart(): Promise<Uint8Array> {
  const solver = await openSolver(solverModule);
  const repository = solver.addRepository("main");
  const packages = ["a-1 requires (b or c), d = 1:2-3", "b-1 files /usr/bin/b", "d-1:2-3 recommends b"];
  repository.readPrimary(new TextEncoder().encode(primaryXmlOf(packages)));
  repository.finish();
  return repository.write("full");
}
