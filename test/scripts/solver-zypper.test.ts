import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Job } from "#lib/solver/job";
import { nevra } from "#lib/contract/index";
import type { Resolution } from "#lib/solver/resolution";
import type { Solver } from "#lib/solver/solver";
import { jobOf, loaded, named, type RepoText } from "../solver/repo-dsl.ts";
import { solverModule as compileSolver, solverOf, tinyLinux } from "./tiny-linux.ts";
import { Zypper, type ZypperAnswer, written } from "./zypper.ts";

const minutesMs = 60_000;
let solverModule: WebAssembly.Module;

beforeAll(async () => {
  solverModule = await compileSolver();
});

describe("Tiny Linux", () => {
  let solver: Solver;
  let zypper: Zypper;

  beforeAll(async () => {
    const path = await tinyLinux();
    const repositories = ["main", "updates"].map((name) => ({ name, folder: join(path, name) }));
    solver = await solverOf(repositories);
    zypper = new Zypper(repositories);
  }, 10 * minutesMs);

  afterAll(() => zypper[Symbol.dispose]());

  const requests: string[][] = [
    ["pattern base"],
    ["pattern base", "kernel-default", "grub2"],
    ["pattern base", "pattern web"],
    ["pattern base", "pattern greeter"],
    ["pattern base", "pattern mono"],
    ["pattern base", "pattern web", "pattern greeter", "pattern mono"],
    ["hello"],
    ["hello = 1.0-1"],
    ["hello = 1.0"],
    ["hello", "ban hello-docs"],
    ["hello", "ban hello-lang"],
    ["hello", "ban libgreet"],
    ["hello", "greet-classic"],
    ["greet-classic"],
    ["webdemo"],
    ["webdemo", "ban webdemo-theme"],
    ["webdemo-pro"],
    ["webdemo", "webdemo-pro"],
    ["webserver"],
    ["greeting-engine"],
    ["mono-demo", "mono-demo-web"],
    ["scriptlet-demo", "bigfile"],
    ["broken-dep"],
    ["pattern base", "broken-dep"],
    ["no-such-package"],
    ["pattern no-such-pattern"],
    ["hello = 99"],
    ["/bin/sh"],
    ["dracut-kiwi-live", "dracut-kiwi-oem-dump"],
    ["syslinux", "grub2", "kernel-default"],
    ["tiny-product-release"],
    ["pattern base", "ban busybox"],
  ];
  const cases = requests.flatMap((request) => [true, false].map((recommended) => ({ request, recommended })));

  it("has the packages that the requests below need", () => {
    for (const name of ["hello", "webdemo", "kernel-default"]) expect(solver.info(name)).toBeDefined();
    expect(solver.solve([jobOf("pattern base")]).state).toBe("solved");
  });
  it.each(cases)("resolves like zypper: $request, recommended $recommended", ({ request, recommended }) => {
    const jobs = request.map(jobOf);
    const answer = zypper.resolve({ ...zypperRequest(jobs), recommended });
    expect(comparable(solver.solve(jobs, { recommended }))).toEqual(comparable(answer));
  });
});

describe("made-up repositories", () => {
  const folder = mkdtempSync(join(tmpdir(), "kiln-repositories-"));

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const cases: [title: string, request: string[], ...repositories: string[][]][] = [
    ["epochs", ["a"], ["a-2.0", "a-1:1.0"]],
    ["tilde and caret", ["a"], ["a-1.0~rc1", "a-1.0", "a-1.0^git1"]],
    ["versioned capabilities", ["a"], ["a-1 requires cap > 3", "p-1 provides cap = 4", "q-1 provides cap = 2"]],
    ["file dependencies", ["a"], ["a-1 requires /usr/bin/foo", "foo-1 files /usr/bin/foo"]],
    ["conflicts", ["a", "b"], ["a-1 conflicts b", "b-1"]],
    ["obsoletes", ["new", "old"], ["new-1 provides old = 2 obsoletes old < 2", "old-1"]],
    [
      "an obsoleted provider",
      ["a"],
      ["a-1 requires cap", "old-1 provides cap", "new-1 provides cap obsoletes old < 2"],
    ],
    ["recommends", ["a"], ["a-1 recommends b", "b-1 recommends c", "c-1"]],
    ["a ban of the recommended", ["a", "ban b"], ["a-1 recommends b", "b-1"]],
    ["a ban of the required", ["a", "ban b"], ["a-1 requires b", "b-1"]],
    ["another provider", ["a", "ban b"], ["a-1 requires cap", "b-1 provides cap", "c-1 provides cap"]],
    [
      "supplements",
      ["a", "b"],
      ["a-1", "b-1", "ab-1.noarch supplements (a and b)", "ac-1.noarch supplements (a and c)"],
    ],
    ["packageand()", ["a", "b"], ["a-1", "b-1", "ab-1.noarch supplements packageand(a:b)"]],
    ["suggests", ["a"], ["a-1 requires cap suggests z", "b-1 provides cap", "z-1 provides cap"]],
    ["rich or", ["a"], ["a-1 requires (b or c)", "c-1"]],
    ["rich and", ["a"], ["a-1 requires (b and c >= 2)", "b-1", "c-1", "c-2"]],
    ["rich if", ["a", "c"], ["a-1 requires (b if c)", "b-1", "c-1"]],
    ["rich else", ["a"], ["a-1 requires (b if c else d)", "b-1", "d-1"]],
    ["rich unless", ["a", "b", "c"], ["a-1 conflicts (b unless c)", "b-1", "c-1"]],
    [
      "rich with",
      ["a"],
      ["a-1 requires (p >= 2 with p < 4)", "x-1 provides p = 1", "y-1 provides p = 3", "z-1 provides p = 5"],
    ],
    ["several architectures", ["a"], ["a-1.i686", "a-1", "a-1.aarch64", "a-1.src"]],
    ["an architecture that was asked for", ["a.i686"], ["a-1.i686", "a-1"]],
    ["a foreign architecture", ["a"], ["a-1.aarch64"]],
    ["priorities", ["a"], ["a-1"], ["a-2"]],
    [
      "a pattern",
      ["pattern base"],
      ["patterns-base-1 provides pattern() = base, pattern-visible() requires b recommends c", "b-1", "c-1"],
    ],
    ["rpm's own features", ["a"], ["a-1 requires rpmlib(CompressedFileNames) <= 3.0.4-1"]],
    ["a missing dependency", ["a"], ["a-1 requires nosuch >= 3"]],
    ["a capability instead of a name", ["cap"], ["a-1 provides cap", "b-1 provides cap"]],
    ["a repository that was asked for", ["a from r1"], ["a-1"], ["a-2"]],
    ["a newest version that cannot be installed", ["a"], ["a-1", "a-2 requires nosuch"]],
    ["a newest version that conflicts", ["a", "b"], ["a-1 conflicts b >= 2", "b-1", "b-2"]],
  ];

  it.each(cases)("resolve like zypper: %s", async (title, request, ...packages) => {
    // The first repository has better priority, so newer versions in the second one lose.
    const repositories = packages.map((list, at) => named(`r${at}`, { priority: 10 + at }, ...list));
    const jobs = request.map(jobOf);
    using zypper = new Zypper(written(repositories, join(folder, title.replaceAll(/\W/g, "-"))));
    const answer = zypper.resolve({ ...zypperRequest(jobs), recommended: true });
    expect(comparable(await solved(repositories, jobs))).toEqual(comparable(answer));
  });
});

async function solved(repositories: RepoText[], jobs: Job[]): Promise<Resolution> {
  return (await loaded(solverModule, repositories)).solve(jobs);
}

// Names patterns by capability, as Kiln's KIWI descriptions do.
function zypperRequest(jobs: readonly Job[]): { install: string[]; ban: string[] } {
  const install = jobs.flatMap((job) => {
    if (job.kind === "installPattern") return [`pattern() = ${job.name}`];
    if (job.kind !== "install") return [];
    const from = job.repository ? `${job.repository}:` : "";
    return [`${from}${job.name}${job.version ? `=${job.version}` : ""}`];
  });
  return { install, ban: jobs.flatMap((job) => (job.kind === "ban" ? [job.name] : [])) };
}

/** Each answer as a list of packages, or "unsolvable". */
function comparable(answer: Resolution | ZypperAnswer): string[] | "unsolvable" {
  if (answer.state === "unsolvable") return "unsolvable";
  return answer.packages.map((found) => (typeof found === "string" ? found : nevra(found))).toSorted();
}
