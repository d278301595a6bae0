/** npm test: prepares what the tests need, runs all of them, and ends with the line "N passed, N failed". */
import { existsSync } from "node:fs";
import { assetsFolder, bundleWorker } from "./launch/bundle.ts";
import { Complaint } from "./launch/complaint.ts";
import { projectOf, reachedSince } from "./test/changed.ts";
import { storedInMemory } from "./test/memory.ts";
import { prepareForTests, type TestEnvironments } from "./test/prepare.ts";
import { add, nothing, summary, type Tally } from "./test/tally.ts";
import { runVitest, type Show } from "./test/vitest.ts";

/** Longer than the time limits of a test and a hook together. */
const quietSeconds = { worker: 700, node: 1600, acceptance: 1900, guests: 4700 };
type Project = keyof typeof quietSeconds;

const [mode, ...rest] = process.argv.slice(2);
const runs = { "--fast": fastTests, "--changed": changedTests };

try {
  const tally =
    mode === "--fast" || mode === "--changed" ? await runs[mode](rest) : await allTests(process.argv.slice(2));
  if (tally.failures.length > 0) process.exitCode = 1;
  console.log(summary(tally));
} catch (error) {
  console.error(error instanceof Complaint ? `kiln: ${error.message}` : error);
  console.log(summary({ passed: 0, failures: ["npm test itself, see above"] }));
  process.exitCode = 1;
}

async function allTests(args: string[]): Promise<Tally> {
  const run = await prepared({ isFast: false }, args);
  // Builds in emulated machines take minutes of processor time, and their tests have no deadline. They run in parallel with the others.
  const guests = run("guests", "when it ends");
  const worker = run("worker", "when it ends");
  // The service's tests wait for builds most of the time, so they leave the Worker's tests a processor.
  const others = add(await run("node"), await run("acceptance"));
  return expectTests([await worker, await guests].reduce(add, others));
}

async function fastTests(args: string[]): Promise<Tally> {
  return expectTests(await workerAndNode(await prepared({ isFast: true }, args)));
}

/** `npm run test:changed -- [COMMIT]`: see docs/operations.md. */
async function changedTests([commit]: string[]): Promise<Tally> {
  const { tests, further, untested } = reachedSince(commit);
  if (untested.length > 0) console.log(`No test found for ${untested.join(", ")}`);
  if (further > 0) console.log(`${further} more test files import the changes. To run all, use npm run test:fast.`);
  const chosen = (project: Project) => tests.filter((test) => projectOf(test) === project);
  for (const test of chosen("acceptance")) console.log(`Not run, because it builds images: ${test}`);
  if (!existsSync(assetsFolder)) await bundleWorker();
  const asItIs = { env: process.env, withSample: Promise.resolve(process.env) };
  const run = (project: Project) => (chosen(project).length === 0 ? nothing : runner(asItIs, chosen(project))(project));
  const [worker, node] = await Promise.all([run("worker"), run("node")]);
  return add(worker, node);
}

async function prepared(kind: { isFast: boolean }, args: string[]) {
  return runner(await prepareForTests(kind), args);
}

type RunProject = (project: Project, show?: Show) => Promise<Tally>;

/** The Worker's tests need no packages, so they do not wait for them. */
function runner({ env, withSample }: TestEnvironments, args: string[]): RunProject {
  return async (project, show = "immediately") => {
    const given = project === "worker" ? storedInMemory(env) : await withSample;
    const isInBackground = project === "guests";
    return await runVitest(project, { args, env: given, show, isInBackground, quietSeconds: quietSeconds[project] });
  };
}

/** The Worker's tests use all processors, while the agent's tests wait most of the time. */
async function workerAndNode(run: RunProject): Promise<Tally> {
  const [worker, node] = await Promise.all([run("worker"), run("node")]);
  return add(worker, node);
}

/** A filter that matches no test is a mistake. */
function expectTests(tally: Tally): Tally {
  const isEmpty = tally.passed === 0 && tally.failures.length === 0;
  return isEmpty ? add(tally, { passed: 0, failures: ["no test passed"] }) : tally;
}
