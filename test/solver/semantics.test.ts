import { describe, expect, it } from "vitest";
import { solverModule } from "#lib/solver/module";
import { openSolver } from "#lib/solver/solver";
import { named, repo, solving } from "./repo-dsl.ts";

const { ask, solve, complaint } = solving(solverModule);

describe("versions", () => {
  it("takes the newest by epoch", async () => {
    expect(await solve(repo("a-2.0", "a-1:1.0"), ["a"])).toEqual(["a-1:1.0"]);
  });
  it("sorts a tilde before and a caret after the plain version", async () => {
    expect(await solve(repo("a-1.0~rc1", "a-1.0", "a-1.0^git1"), ["a"])).toEqual(["a-1.0^git1"]);
  });
  it("compares numbers as numbers, and the release last", async () => {
    expect(await solve(repo("a-1.9-9", "a-1.10-1.2", "a-1.10-1.10"), ["a"])).toEqual(["a-1.10-1.10"]);
  });
  it.each([
    ["1.0", "1.0", 0],
    ["1.0-1", "1.0-2", -1],
    ["1.0~b", "1.0", -1],
    ["1:0", "9", 1],
    ["1.a", "1.1", -1],
    ["2.0^a", "2.0", 1],
  ])("compares %s with %s", async (left, right, order) => {
    expect((await openSolver(solverModule)).compareEvr(left, right)).toBe(order);
  });
  it("installs a pinned version, not the newest", async () => {
    expect(await solve(repo("a-1-3", "a-2"), ["a = 1-3"])).toEqual(["a-1-3"]);
  });
  it("accepts any release if the pin has none", async () => {
    expect(await solve(repo("a-1-3", "a-2"), ["a = 1"])).toEqual(["a-1-3"]);
  });
  it("installs one version of a name", async () => {
    expect(await complaint(repo("k-1", "k-2"), ["k = 1", "k = 2"])).toContain("k-");
  });
  it("installs several versions if multiversion says so", async () => {
    const kernels = repo("k-1 provides multiversion(kernel)", "k-2 provides multiversion(kernel)");
    expect(await solve(kernels, ["multiversion multiversion(kernel)", "k = 1", "k = 2"])).toEqual(["k-1", "k-2"]);
  });
});

describe("requires", () => {
  it("compares the epoch", async () => {
    expect(await solve(repo("a-1 requires b >= 1:1", "b-5", "b-1:1"), ["a"])).toEqual(["a-1", "b-1:1"]);
  });
  it("accepts any release if none is given", async () => {
    expect(await solve(repo("a-1 requires b = 2", "b-2-7", "b-3"), ["a"])).toEqual(["a-1", "b-2-7"]);
  });
  it("is met by a versioned capability", async () => {
    const repository = repo("a-1 requires cap > 3", "p-1 provides cap = 4", "q-1 provides cap = 2");
    expect(await solve(repository, ["a"])).toEqual(["a-1", "p-1"]);
  });
  it("separates sonames by word size", async () => {
    const repository = repo(
      "a-1 requires libz.so.1()(64bit)",
      "libz1-1 provides libz.so.1()(64bit)",
      "libz1-compat-1 provides libz.so.1",
    );
    expect(await solve(repository, ["a"])).toEqual(["a-1", "libz1-1"]);
  });
  it("is met by a file", async () => {
    expect(await solve(repo("a-1 requires /usr/bin/foo", "foo-1 files /usr/bin/foo"), ["a"])).toEqual(["a-1", "foo-1"]);
  });
  it("always has rpm's own features", async () => {
    expect(await solve(repo("a-1 requires rpmlib(CompressedFileNames) <= 3.0.4-1"), ["a"])).toEqual(["a-1"]);
  });
});

describe("conflicts and obsoletes", () => {
  it("explains a conflict", async () => {
    expect(await complaint(repo("a-1 conflicts b", "b-1"), ["a", "b"])).toContain("a-1-1.x86_64 conflicts with b");
  });
  it("picks an older version without conflicts if the request allows it", async () => {
    const repository = repo("a-1 conflicts b >= 2 requires b", "b-1", "b-2");
    expect(await solve(repository, ["a"])).toEqual(["a-1", "b-1"]);
  });
  it("insists on the newest version of a requested package", async () => {
    expect(await complaint(repo("a-1 conflicts b >= 2", "b-1", "b-2"), ["a", "b"])).toContain("conflicts with b >= 2");
  });
  it("takes an older version if it is pinned", async () => {
    expect(await solve(repo("a-1 conflicts b >= 2", "b-1", "b-2"), ["a", "b = 1-1"])).toEqual(["a-1", "b-1"]);
  });
  it("does not install a package with one that it obsoletes", async () => {
    expect(await complaint(repo("new-1 provides old = 2 obsoletes old < 2", "old-1"), ["new", "old"])).toMatch(
      /obsoletes/,
    );
  });
  it("prefers a package to the one that it obsoletes", async () => {
    const repository = repo("a-1 requires cap", "old-1 provides cap", "new-1 provides cap obsoletes old < 2");
    expect(await solve(repository, ["a"])).toEqual(["a-1", "new-1"]);
  });
});

describe("weak dependencies", () => {
  const recommending = repo("a-1 recommends b", "b-1");
  const supplementing = repo("a-1", "b-1", "ab-1.noarch supplements (a and b)");

  it("follows recommends", async () => {
    expect(await solve(recommending, ["a"])).toEqual(["a-1", "b-1"]);
  });
  it("ignores recommends if the option says so", async () => {
    expect(await solve(recommending, ["a"], { recommended: false })).toEqual(["a-1"]);
  });
  it("follows supplements", async () => {
    expect(await solve(repo("a-1", "a-lang-1.noarch supplements a"), ["a"])).toEqual(["a-1", "a-lang-1.noarch"]);
  });
  it("follows supplements of two packages if both are installed", async () => {
    expect(await solve(supplementing, ["a", "b"])).toEqual(["a-1", "ab-1.noarch", "b-1"]);
  });
  it("ignores supplements of two packages if one is missing", async () => {
    expect(await solve(supplementing, ["a"])).toEqual(["a-1"]);
  });
  it("understands packageand()", async () => {
    const repository = repo("a-1", "b-1", "ab-1.noarch supplements packageand(a:b)");
    expect(await solve(repository, ["a", "b"])).toEqual(["a-1", "ab-1.noarch", "b-1"]);
  });
  it("uses suggests to choose between providers", async () => {
    const repository = repo("a-1 requires cap suggests z", "b-1 provides cap", "z-1 provides cap");
    expect(await solve(repository, ["a"])).toEqual(["a-1", "z-1"]);
  });
});

describe("rich dependencies", () => {
  const conditional = repo("a-1 requires (b if c)", "b-1", "c-1");

  it("or", async () => {
    expect(await solve(repo("a-1 requires (b or c)", "c-1"), ["a"])).toEqual(["a-1", "c-1"]);
  });
  it("and", async () => {
    expect(await solve(repo("a-1 requires (b and c >= 2)", "b-1", "c-1", "c-2"), ["a"])).toEqual(["a-1", "b-1", "c-2"]);
  });
  it("if, condition not met", async () => {
    expect(await solve(conditional, ["a"])).toEqual(["a-1"]);
  });
  it("if, condition met", async () => {
    expect(await solve(conditional, ["a", "c"])).toEqual(["a-1", "b-1", "c-1"]);
  });
  it("else", async () => {
    expect(await solve(repo("a-1 requires (b if c else d)", "b-1", "d-1"), ["a"])).toEqual(["a-1", "d-1"]);
  });
  it("unless", async () => {
    const repository = repo("a-1 conflicts (b unless c)", "b-1", "c-1");
    expect(await solve(repository, ["a", "b", "c"])).toEqual(["a-1", "b-1", "c-1"]);
  });
  it("with", async () => {
    const repository = repo(
      "a-1 requires (p >= 2 with p < 4)",
      "x-1 provides p = 1",
      "y-1 provides p = 3",
      "z-1 provides p = 5",
    );
    expect(await solve(repository, ["a"])).toEqual(["a-1", "y-1"]);
  });
});

describe("bans", () => {
  it("keep a recommended package out", async () => {
    expect(await solve(repo("a-1 recommends b", "b-1"), ["a", "ban b"])).toEqual(["a-1"]);
  });
  it("are a problem for a required package", async () => {
    expect(await complaint(repo("a-1 requires b", "b-1"), ["a", "ban b"])).toContain("a-1-1.x86_64");
  });
  it("make the solver choose another provider", async () => {
    const repository = repo("a-1 requires cap", "b-1 provides cap", "c-1 provides cap");
    expect(await solve(repository, ["a", "ban b"])).toEqual(["a-1", "c-1"]);
  });
  it("have no effect for an unknown package, and are reported", async () => {
    expect(await ask(repo("a-1"), ["a", "ban zz"])).toMatchObject({ state: "solved", unmatched: [1] });
  });
});

describe("architectures", () => {
  it("prefers x86_64", async () => {
    expect(await solve(repo("a-1.i686", "a-1"), ["a"])).toEqual(["a-1"]);
  });
  it("installs another architecture on request", async () => {
    expect(await solve(repo("a-1.i686", "a-1"), ["a.i686"])).toEqual(["a-1.i686"]);
  });
  it("installs i586 if there is no other", async () => {
    expect(await solve(repo("a-1.i586"), ["a"])).toEqual(["a-1.i586"]);
  });
  it("never installs a foreign architecture", async () => {
    expect(await complaint(repo("a-1.aarch64"), ["a"])).toContain("a");
  });
  it("never installs a source package", async () => {
    expect(await solve(repo("a-1.src", "a-1"), ["a"])).toEqual(["a-1"]);
  });
  it("solves for another machine if it is opened for it", async () => {
    const solver = await openSolver(solverModule, "aarch64");
    const repository = solver.addRepository("main");
    repository.readPrimary(new TextEncoder().encode(repo("a-1.aarch64", "a-2").xml));
    repository.finish();
    solver.ready();
    expect(solver.solve([{ kind: "install", name: "a" }])).toMatchObject({ packages: [{ arch: "aarch64" }] });
  });
});

describe("repositories", () => {
  it("win over newer versions with a smaller priority", async () => {
    const repositories = [named("late", { priority: 99 }, "a-2"), named("early", { priority: 10 }, "a-1")];
    expect(await solve(repositories, ["a"])).toEqual(["a-1"]);
  });
  it("can provide the newest version from another vendor", async () => {
    const repositories = [named("one", {}, "a-1 vendor Kiln"), named("two", {}, "a-2 vendor Other")];
    expect(await solve(repositories, ["a"])).toEqual(["a-2"]);
  });
  it("can be chosen for one package", async () => {
    const repositories = [named("main", {}, "a-1", "b-1"), named("updates", {}, "a-2", "b-2")];
    expect(await solve(repositories, ["a from main", "b"])).toEqual(["a-1", "b-2"]);
  });
  it("are a problem if they lack the package", async () => {
    expect(await complaint([named("main", {}, "a-1"), named("updates", {}, "b-1")], ["a from updates"])).toBe(
      "package a from updates does not exist",
    );
  });
});

describe("patterns", () => {
  const repository = repo(
    "patterns-base-base-1 provides pattern() = base, pattern-visible() requires b recommends c",
    "b-1",
    "c-1",
  );

  it("install what they require and recommend", async () => {
    expect(await solve(repository, ["pattern base"])).toEqual(["b-1", "c-1", "patterns-base-base-1"]);
  });
  it("are a problem if they do not exist", async () => {
    expect(await complaint(repository, ["pattern gone"])).toContain("pattern() = gone");
  });
});

describe("explanations", () => {
  it("say why the newest version cannot be installed", async () => {
    const text = await complaint(repo("a-1", "a-2 requires nosuch"), ["a"]);
    expect(text).toBe("nothing provides nosuch needed by a-2-1.x86_64");
  });
  it("name the missing dependency and its dependant", async () => {
    const text = await complaint(repo("a-1 requires nosuch >= 3"), ["a"]);
    expect(text).toContain("nothing provides nosuch >= 3 needed by a-1-1.x86_64");
  });
  it("name a missing package and its job", async () => {
    const resolution = await ask(repo("a-1"), ["a", "zz"]);
    expect(resolution).toMatchObject({ unmatched: [1], problems: [{ text: "package zz does not exist" }] });
  });
  it("propose to drop either job of a conflict", async () => {
    const resolution = await ask(repo("a-1 conflicts b", "b-1"), ["a", "b"]);
    expect(resolution).toMatchObject({
      problems: [{ solutions: expect.arrayContaining([[expect.objectContaining({ dropsJob: 0 })]]) }],
    });
    expect(resolution).toMatchObject({
      problems: [{ solutions: expect.arrayContaining([[expect.objectContaining({ dropsJob: 1 })]]) }],
    });
  });
  it("say why each package is installed", async () => {
    const repository = repo("a-1 requires b recommends c", "b-1", "c-1", "d-1 supplements a");
    const resolution = await ask(repository, ["a"]);
    const reasons = resolution.state === "solved" && resolution.packages.map(({ name, reason }) => `${name} ${reason}`);
    expect(reasons).toEqual(["a requested", "b required", "c recommended", "d supplemented"]);
  });
  it("say that a package was requested, even if also required", async () => {
    const resolution = await ask(repo("a-1 requires b", "b-1"), ["a", "b"]);
    expect(resolution).toMatchObject({ packages: [{ reason: "requested" }, { reason: "requested" }] });
  });
});

describe("a resolved package", () => {
  it("has everything that a build freezes", async () => {
    const resolution = await ask(repo("a-2:1.5-3.noarch"), ["a"]);
    expect(resolution).toMatchObject({
      packages: [
        {
          name: "a",
          epoch: 2,
          version: "1.5",
          release: "3",
          arch: "noarch",
          repository: "main",
          downloadSizeBytes: 10,
          installSizeBytes: 20,
          checksum: { type: "sha256", value: "0".repeat(64) },
          location: "a-2:1.5-3.noarch.rpm",
        },
      ],
    });
  });
});
