/** npm run mutate: puts faults into a copy of the code, one at a time, and lists those that the nearest tests miss. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bundleWorker } from "./launch/bundle.ts";
import { copyProject, projectFiles, removeCopy } from "./mutate/copy.ts";
import { mutantsOf } from "./mutate/mutants.ts";
import { Runner } from "./mutate/runner.ts";
import { mutantsBySeed } from "./mutate/sample.ts";
import { Trial, type End } from "./mutate/trial.ts";
import type { Mutant } from "./mutate/mutants.ts";
import { TestWords } from "./mutate/words.ts";
import { readImports } from "./test/imports.ts";
import { isQuickTest, isWide, reachedBy } from "./test/reached.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: "string", default: "40" }, seed: { type: "string", default: "1" } },
});
const [most, seed] = [Number(values.count), Number(values.seed)];

await bundleWorker(); // tests of pages read its assets
const folder = copyProject();
using runner = new Runner(folder);
process.on("exit", () => {
  runner[Symbol.dispose]();
  removeCopy();
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(130));

const all = projectFiles();
const code = /^(?:src|builder-agent\/src|cli\/src)\/.*(?<!\.d)\.tsx?$/;
const isWanted = (file: string) => positionals.length === 0 || positionals.some((start) => file.startsWith(start));
const contents = new Map(
  all
    .filter((file) => code.test(file) && isWanted(file))
    .map((file) => [file, readFileSync(join(folder, file), "utf8")] as const),
);
const lineCounts = new Map([...contents].map(([file, content]) => [file, content.split("\n").length]));
const imports = readImports(
  folder,
  all.filter((file) => /\.tsx?$/.test(file)),
);

/** Tests of the command line start it as a process, so imports do not show which tests reach a file. */
const throughProcesses = all.filter((file) => /^cli\/test\/.*\.test\.ts$/.test(file));
const testsOf = (file: string): string[] => {
  const nearest = reachedBy([file], imports).tests;
  return file.startsWith("cli/") ? [...new Set([...nearest, ...throughProcesses])] : nearest;
};

const nearby = all.filter((file) => isQuickTest(file) && !isWide(file));
const words = new TestWords(new Map(nearby.map((file) => [file, readFileSync(join(folder, file), "utf8")])));
/** How many tests with the words of a fault's line are tried after the nearest ones. */
const mostByWords = 10;

const trial = new Trial(folder, runner);

/** Tries a fault with the nearest tests. If these miss it, tries those with the rarest words of its line and file. */
async function tryFault(mutant: Mutant): Promise<{ end: End; by?: string }> {
  const nearest = testsOf(mutant.file);
  const first = await trial.of(mutant, nearest);
  if (first.end !== "survived" && first.end !== "untested") return first;
  const byWords = words.nearestTo(`${mutant.file} ${mutant.before}`, mostByWords + nearest.length);
  const others = byWords.filter((test) => !nearest.includes(test)).slice(0, mostByWords);
  return others.length === 0 ? first : await trial.of(mutant, others);
}

const counts: Record<End, number> = { caught: 0, hung: 0, survived: 0, untested: 0, unclear: 0 };
let tried = 0;
for await (const mutant of mutantsBySeed(seed, lineCounts, (file) => mutantsOf(file, contents.get(file) ?? ""))) {
  if (tried === most) break;
  tried += 1;
  const { end, by } = await tryFault(mutant);
  counts[end] += 1;
  console.log(`${end.padEnd(9)}${mutant.file}:${mutant.line}${by ? `  (${by})` : ""}`);
  if (end !== "caught") console.log(`  - ${mutant.before.trim()}\n  + ${mutant.after.trim()}`);
}
const ends = Object.entries(counts).map(([end, count]) => `${count} ${end}`);
console.log(`${tried} faults, seed ${seed}: ${ends.join(", ")}`);
process.exit();
