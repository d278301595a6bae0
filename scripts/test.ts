/** npm test: brings what the tests need, runs all of them, and ends with the one line "N passed, N failed". */
import { Complaint } from "./launch/complaint.ts";
import { prepareForTests } from "./test/prepare.ts";
import { add, nothing, summary } from "./test/tally.ts";
import { runVitest, type Show } from "./test/vitest.ts";

const given = process.argv.slice(2);
const isFast = given.includes("--fast");
const passedOn = given.filter((argument) => argument !== "--fast");

try {
  const env = await prepareForTests({ isFast });
  const run = (projects: string[], show: Show = "at once") => runVitest(projects, { args: passedOn, env, show });
  // Builds in emulated machines take minutes and one processor each, and look at no clock.
  const guests = isFast ? nothing : run(["guests"], "when it ends");
  const fast = await run(["worker", "node"]);
  // Real builds, which count what is left on the host: nothing may run beside them.
  const others = add(fast, await guests);
  const tally = isFast ? others : add(others, await run(["acceptance"]));
  if (tally.failures.length > 0 || tally.passed === 0) process.exitCode = 1;
  console.log(summary(tally));
} catch (error) {
  console.error(error instanceof Complaint ? `kiln: ${error.message}` : error);
  console.log(summary({ passed: 0, failures: ["npm test itself, as said above"] }));
  process.exitCode = 1;
}
