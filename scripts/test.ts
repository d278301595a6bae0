/** npm test: prepares what the tests need, runs all of them, and ends with the line "N passed, N failed". */
import { existsSync } from "node:fs";
import { assetsFolder, bundleWorker } from "./launch/bundle.ts";
import { Complaint } from "./launch/complaint.ts";
import { projectRoot } from "./launch/project.ts";
import { projectOf, reachedSince } from "./test/changed.ts";
import { digestsNow } from "./test/guest-record.ts";
import { storedInMemory } from "./test/memory.ts";
import { prepareForTests, type TestEnvironments } from "./test/prepare.ts";
import { add, nothing, summary, type Tally } from "./test/tally.ts";
import { runGuests } from "./test/run-guests.ts";
import { runVitest, type Run, type Show } from "./test/vitest.ts";

/** These limits are longer than those of a test and a hook together. */
const quietSeconds = { worker: 1900, node: 1900, acceptance: 1900, guests: 4700 };
type Project = keyof typeof quietSeconds;

const [mode, ...rest] = process.argv.slice(2);
const runs = {
  "--fast": fastTests,
  "--changed": changedTests,
  "--all": (args: string[]) => allTests(args, { isAll: true }),
};

try {
  const tally = await (isMode(mode) ? runs[mode](rest) : allTests(process.argv.slice(2), { isAll: false }));
  if (tally.failures.length > 0) process.exitCode = 1;
  console.log(summary(tally));
} catch (error) {
  console.error(error instanceof Complaint ? `kiln: ${error.message}` : error);
  console.log(summary({ passed: 0, failures: ["npm test itself, see above"] }));
  process.exitCode = 1;
}

function isMode(word: string | undefined): word is keyof typeof runs {
  return word !== undefined && word in runs;
}

async function allTests(args: string[], { isAll }: { isAll: boolean }): Promise<Tally> {
  const environments = await prepareForTests({ isFast: false });
  const run = runner(environments, args);
  // Builds in emulated machines take minutes of processor time, and their tests have no deadline. They run in parallel
  // with the other tests.
  const guests = environments.withSample.then((given) =>
    runGuests({
      root: projectRoot,
      digestsNow: () => digestsNow(projectRoot, given["KILN_SAMPLE_DISTRIBUTION"]),
      // Tests that are named explicitly always run.
      isAll: isAll || args.length > 0,
      run: (more, onEvent) => run("guests", { show: "when it ends", more, onEvent }),
    }),
  );
  // The service's tests wait for builds most of the time, and take the longest. The others use the processors in the
  // meantime.
  const tallies = await Promise.all([run("acceptance"), workerThenNode(run), guests]);
  return expectTests(tallies.reduce(add));
}

/** The Worker's tests need no sample distribution, so they go first. */
async function workerThenNode(run: RunProject): Promise<Tally> {
  const worker = await run("worker", { show: "when it ends" });
  return add(worker, await run("node", { show: "when it ends" }));
}

async function fastTests(args: string[]): Promise<Tally> {
  return expectTests(await workerAndNode(runner(await prepareForTests({ isFast: true }), args)));
}

/** `npm run test:changed -- [COMMIT]`: see CONTRIBUTING.md, "Run some tests". */
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

type RunProject = (project: Project, options?: Options) => Promise<Tally>;
interface Options extends Pick<Run, "onEvent"> {
  show?: Show;
  /** Added to the environment. */
  more?: Record<string, string>;
}

/** The Worker's tests need no packages, so they do not wait for them. */
function runner({ env, withSample }: TestEnvironments, args: string[]): RunProject {
  return async (project, { show = "immediately", more, ...rest } = {}) => {
    const given = project === "worker" ? storedInMemory(env) : { ...(await withSample), ...more };
    const isInBackground = project === "guests";
    const quiet = quietSeconds[project];
    return await runVitest(project, { args, env: given, show, isInBackground, quietSeconds: quiet, ...rest });
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
