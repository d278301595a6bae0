import { copyFileSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../../scripts/launch/project.ts";
import { mutantsOf } from "../../scripts/mutate/mutants.ts";
import { Runner } from "../../scripts/mutate/runner.ts";
import { mutantsBySeed } from "../../scripts/mutate/sample.ts";
import { Trial } from "../../scripts/mutate/trial.ts";
import { TestWords } from "../../scripts/mutate/words.ts";
import { emptyFolder } from "./folder.ts";

const after = async (line: string) => (await mutantsOf("a.ts", line)).map((mutant) => mutant.after);

it.each([
  ["if (a > b) c();", "if (a >= b) c();"],
  ["const a = b ?? c;", "const a = b && c;"],
  ["  await store(a);", ""],
  ["  const a = await b(c);", "  const a = b(c);"],
  ["const limit = 1_000;", "const limit = 1001;"],
])("turns %j into %j", async (before, fault) => {
  expect(await after(before)).toContain(fault);
});

it.each(['const a = "words";', "// if (a > 1) b();", "const a = {\n  b: `${c}`,\n};"])(
  "leaves %j alone",
  async (text) => {
    expect(await after(text)).toEqual([]);
  },
);

async function drawn(seed: number): Promise<string[]> {
  const lineCounts = new Map([
    ["a", 30],
    ["b", 3],
  ]);
  const found: string[] = [];
  const oneEach = async (file: string) =>
    Array.from({ length: lineCounts.get(file) ?? 0 }, (_, nth) => ({ file, line: nth + 1 }));
  for await (const { file, line } of mutantsBySeed(seed, lineCounts, oneEach)) found.push(`${file}:${line}`);
  return found;
}

it("draws the same lines with the same seed, and each line once", async () => {
  const lines = await drawn(1);
  expect(await drawn(1)).toEqual(lines);
  expect(await drawn(2)).not.toEqual(lines);
  expect(new Set(lines).size).toBe(33);
  expect((await drawn(2)).toSorted()).toEqual(lines.toSorted());
});

it("finds the tests with the rarest words of a line first, in any form, and none without them", () => {
  const words = new TestWords(
    new Map([
      ["test/a.test.ts", "the build of an appliance"],
      ["test/b.test.ts", "another build, with its requestId"],
      ["test/c.test.ts", "const witnessed = buildOf(appliance);"],
      ["test/d.test.ts", "something else"],
    ]),
  );

  expect(words.nearestTo("if (witnesses) return { build, requestId };", 9)).toEqual([
    "test/b.test.ts",
    "test/c.test.ts",
    "test/a.test.ts",
  ]);
  expect(words.nearestTo("if (witnesses) return { build };", 1)).toEqual(["test/c.test.ts"]);
});

it("reports the result of each fault's tests, and restores the file", async () => {
  const folder = emptyFolder();
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  const content = "export const sum = (a, b) => {\n  return a + b;\n};\n";
  write("sum.js", content);
  const imports = 'import { expect, it } from "vitest";\nimport { sum } from "./sum.js";\n';
  write("sum.test.js", `${imports}it("adds", () => expect(sum(2, 2)).toBe(4));\n`);
  write("sum-of-3.test.js", `${imports}it("adds 3", () => expect(sum(2, 3)).toBe(5));\n`);
  // As root, no fault can unmount a file system of the machine or kill its processes.
  const walls =
    'import { readlinkSync } from "node:fs";\nconst wall = (name) => readlinkSync(`/proc/self/ns/${name}`);\n';
  const outside = ["mnt", "pid"].map((name) => readlinkSync(`/proc/self/ns/${name}`));
  const isWalled = `[["mnt", "pid"].map(wall).some((one) => ${JSON.stringify(outside)}.includes(one)), process.getuid() === 0]`;
  write("walls.test.js", `${imports}${walls}it("is walled", () => expect(new Set(${isWalled}).size).toBe(2));\n`);
  write("other.js", "export const other = 1;\n");
  // The service, the tests and the scripts share this project file.
  const checked = { compilerOptions: { allowJs: true, checkJs: true, noEmit: true, strict: true, types: [] } };
  write("test/tsconfig.json", JSON.stringify({ ...checked, files: ["../other.js"] }));
  write("failing.test.js", `${imports}it("fails always", () => expect(sum(2, 2)).toBe(5));\n`);
  write("test/vitest.config.ts", 'export default { test: { name: "node", include: ["*.test.js"] } };\n');
  write("package.json", '{ "type": "module" }');
  symlinkSync(join(projectRoot, "node_modules"), join(folder, "node_modules"));
  mkdirSync(join(folder, "scripts/mutate"), { recursive: true });
  for (const file of ["scripts/mutate/vitest.ts", ".oxlintrc.types.json"])
    copyFileSync(join(projectRoot, file), join(folder, file));

  using runner = new Runner(folder);
  const trial = new Trial(folder, runner);
  const ends = (fault: string, ...tests: string[]) =>
    trial.of({ file: "sum.js", line: 2, before: "  return a + b;", after: fault }, tests);

  expect(await ends("  return a - b;", "sum.test.js")).toEqual({ end: "caught", by: "adds" });
  expect(await ends("  return a * b;", "sum.test.js")).toEqual({ end: "survived" });
  // The previous fault is undone, although it was in another file.
  const unused = { file: "other.js", line: 1, before: "export const other = 1;", after: "export const other = 2;" };
  expect(await trial.of(unused, ["sum-of-3.test.js"])).toEqual({ end: "survived" });
  for (const after of ["export const other = 1.toFixed;", "Promise.resolve();"])
    expect(await trial.of({ ...unused, after }, ["sum.test.js"])).toEqual({ end: "caught", by: "types" });
  expect(await ends("  return b + a;", "walls.test.js")).toEqual({ end: "survived" });
  expect(await ends("  return a - b;", "failing.test.js")).toEqual({ end: "unclear", by: "fails always" });
  expect(await ends("  return a - b;")).toEqual({ end: "untested" });
  const endless = { file: "sum.js", line: 2, before: "  return a + b;", after: "  for (;;);" };
  expect(await trial.of(endless, ["sum.test.js"], 1)).toEqual({ end: "hung" });
  expect(await ends("  return b + a;", "sum.test.js")).toEqual({ end: "survived" });
  expect(readFileSync(join(folder, "sum.js"), "utf8")).toBe(content);
});
