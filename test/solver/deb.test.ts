import { describe, expect, it } from "vitest";
import { evr } from "#lib/contract/index";
import { solverModule } from "#lib/solver/module";
import { openSolver } from "#lib/solver/solver";
import { packagesFile } from "../support/deb.ts";
import { jobOf } from "./repo-dsl.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

async function loaded(...stanzas: string[]) {
  const solver = await openSolver(solverModule, "x86_64", "deb");
  const repository = solver.addRepository("main");
  repository.readDeb(utf8(packagesFile(stanzas)));
  repository.finish();
  solver.ready();
  return solver;
}

async function chosen(stanzas: string[], requests: string[]): Promise<string[]> {
  const resolution = (await loaded(...stanzas)).solve(requests.map(jobOf), { recommended: false });
  if (resolution.state !== "solved") return resolution.problems.map(({ text }) => text);
  return resolution.packages.map((one) => `${one.name}=${evr(one)}`);
}

describe("versions of Debian", () => {
  it.each([
    ["1.0~rc1-1", "1.0-1", -1],
    ["1:0.9-1", "2.0-1", 1],
    ["2.0-1+b1", "2.0-1", 1],
    ["1.0-1+deb12u10", "1.0-1+deb12u9", 1],
    ["1.0.0", "1.0", 1],
  ])("compares %s with %s", async (left, right, order) => {
    const solver = await openSolver(solverModule, "x86_64", "deb");
    expect(Math.sign(solver.compareEvr(left, right))).toBe(order);
    expect(Math.sign(solver.compareEvr(right, left))).toBe(-order);
  });

  it("keeps epoch, upstream version and revision apart, and joins them again", async () => {
    const solver = await loaded("a 2:1.0-rc1-3", "native 5.3 all");
    expect(solver.info("a")).toMatchObject({ epoch: 2, version: "1.0-rc1", release: "3", arch: "amd64" });
    expect(solver.info("native")).toMatchObject({ epoch: 0, version: "5.3", release: "", arch: "all" });
    expect(await chosen(["a 2:1.0-rc1-3"], ["a"])).toEqual(["a=2:1.0-rc1-3"]);
  });
});

describe("packages of Debian", () => {
  it("have their size, checksum, place and summary", async () => {
    expect((await loaded("one 1", "bash 5.2-1", "two 1")).info("bash")).toMatchObject({
      downloadSizeBytes: 1234,
      installSizeBytes: 24 * 1024,
      checksum: { type: "sha256" },
      location: "pool/main/b/bash/bash_5.2-1_amd64.deb",
      summary: "the package bash",
    });
  });

  it("of other architectures are not chosen", async () => {
    expect(await chosen(["a 2 i386", "a 1"], ["a"])).toEqual(["a=1"]);
    const i386 = await openSolver(solverModule, "i686", "deb");
    const repository = i386.addRepository("main");
    repository.readDeb(utf8(packagesFile(["a 2 i386", "a 3"])));
    repository.finish();
    i386.ready();
    expect(i386.solve([{ kind: "install", name: "a" }])).toMatchObject({ packages: [{ version: "2", arch: "i386" }] });
  });

  it("conflict by Breaks, and a relation may be strict", async () => {
    expect(await chosen(["a 1; Depends: b (<< 2)", "b 2", "b 1"], ["a"])).toEqual(["a=1", "b=1"]);
    const broken = await chosen(["a 1; Breaks: b (<< 2)", "b 1"], ["a", "b"]);
    expect(broken.join()).toContain("conflicts with b << 2");
  });
});

describe("alternatives", () => {
  it("are taken in the order in which they are written", async () => {
    const both = ["x 1", "y 1"];
    expect(await chosen(["a 1; Depends: y | x", ...both], ["a"])).toEqual(["a=1", "y=1"]);
    expect(await chosen(["a 1; Depends: x | y", ...both], ["a"])).toEqual(["a=1", "x=1"]);
  });

  it("prefer the package of that name to one that provides it", async () => {
    expect(await chosen(["a 1; Depends: mta", "better 9; Provides: mta", "mta 1"], ["a"])).toEqual(["a=1", "mta=1"]);
  });

  it("are decided as apt decides them, package by package", async () => {
    // libsolv would see that c needs y anyway, and omit x.
    const packages = ["a 1; Depends: x | y", "c 1; Depends: y", "x 1", "y 1"];
    expect(await chosen(packages, ["a", "c"])).toEqual(["a=1", "c=1", "x=1", "y=1"]);
  });

  it("skip what is impossible, banned, or missing", async () => {
    const packages = ["a 1; Depends: gone | x | y", "x 1; Conflicts: b", "y 1", "b 1"];
    expect(await chosen(packages, ["a", "b"])).toEqual(["a=1", "b=1", "y=1"]);
    expect(await chosen(packages, ["a", "ban x"])).toEqual(["a=1", "y=1"]);
  });

  it("forget a package that was tried in vain", async () => {
    // x fails for a. If it still counted as installed, b would get no w. libsolv alone takes c's y.
    const packages = ["a 1; Depends: x | q", "b 1; Depends: x | w | y", "c 1; Depends: y", "x 1; Depends: gone"];
    const all = [...packages, "q 1", "w 1", "y 1"];
    expect(await chosen(all, ["a", "b", "c"])).toEqual(["a=1", "b=1", "c=1", "q=1", "w=1", "y=1"]);
  });

  it("still give a solution where apt's way ends", async () => {
    const packages = ["a 1; Depends: x | y, z", "x 1", "y 1", "z 1; Depends: w", "w 1; Conflicts: x"];
    expect(await chosen(packages, ["a"])).toEqual(["a=1", "w=1", "y=1", "z=1"]);
  });

  it("that all fail, level after level, end soon", async () => {
    // 2^60 ways, and apt's order tries each of them.
    const levels = Array.from({ length: 60 }, (_, at) => {
      const next = `Depends: p${at + 1}`;
      return [`p${at} 1; Depends: a${at} | b${at}`, `a${at} 1; ${next}`, `b${at} 1; ${next}`];
    }).flat();
    const problems = await chosen([...levels, "p60 1; Depends: missing"], ["p0"]);
    expect(problems.join()).toMatch(/requires|provides/);
    const [other] = await chosen([...levels, "p60 1; Depends: missing", "c 1; Depends: p0 | d", "d 1"], ["c"]);
    expect(other).toBe("c=1");
  });
});

describe("a task", () => {
  const task = "task-ssh-server 3.73 all; Depends: tasksel; Recommends: openssh-server, gone";
  const packages = [task, "tasksel 3.73 all", "openssh-server 9; Recommends: xauth", "xauth 1"];

  it("stands for a pattern, and brings what it recommends", async () => {
    const [page] = [...(await loaded(...packages)).search("task-").hits];
    expect(page).toMatchObject({ name: "task-ssh-server", pattern: "task-ssh-server" });
    const names = ["openssh-server=9", "task-ssh-server=3.73", "tasksel=3.73"];
    expect(await chosen(packages, ["pattern task-ssh-server"])).toEqual(names);
  });

  it("that does not exist is a problem", async () => {
    expect((await chosen(packages, ["pattern task-none"])).join()).toContain("task-none does not exist");
  });
});
