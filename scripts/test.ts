/** npm test: brings what the tests need, runs all of them, and ends with the one line "N passed, N failed". */
import { Complaint } from "./launch/complaint.ts";
import { prepareForTests } from "./test/prepare.ts";
import { add, nothing, summary } from "./test/tally.ts";
import { runVitest, type Show } from "./test/vitest.ts";

/** More than a test and a hook of the project may take together. */
const quietSeconds = { worker: 180, node: 180, acceptance: 1300, guests: 2200 };
type Project = keyof typeof quietSeconds;

const given = process.argv.slice(2);
const isFast = given.includes("--fast");
const passedOn = given.filter((argument) => argument !== "--fast");

try {
  const env = await prepareForTests({ isFast });
  const run = (project: Project, show: Show = "at once") =>
    runVitest(project, { args: passedOn, env, show, quietSeconds: quietSeconds[project] });
  // Builds in emulated machines take minutes and one processor each, and look at no clock.
  const guests = isFast ? nothing : run("guests", "when it ends");
  // The Worker's tests fill the processors, the agent's wait most of the time.
  const [worker, node] = await Promise.all([run("worker"), run("node")]);
  const others = add(add(worker, node), await guests);
  // Real builds, which count what is left on the host: nothing may run beside them.
  const tally = isFast ? others : add(others, await run("acceptance"));
  if (tally.failures.length > 0 || tally.passed === 0) process.exitCode = 1;
  console.log(summary(tally));
} catch (error) {
  console.error(error instanceof Complaint ? `kiln: ${error.message}` : error);
  console.log(summary({ passed: 0, failures: ["npm test itself, as said above"] }));
  process.exitCode = 1;
}
