/** npm test: brings what the tests need, runs all of them, and ends with the one line "N passed, N failed". */
import { Complaint } from "./launch/complaint.ts";
import { prepareForTests } from "./test/prepare.ts";
import { add, nothing, sentence } from "./test/tally.ts";
import { runVitest } from "./test/vitest.ts";

const given = process.argv.slice(2);
const isFast = given.includes("--fast");
const passedOn = given.filter((argument) => argument !== "--fast");

try {
  const env = await prepareForTests({ isFast });
  let tally = await runVitest(["worker", "node"], passedOn, env);
  // Real builds, one file at a time; the configuration of that project says so.
  if (!isFast) tally = add(tally, await runVitest(["acceptance"], passedOn, env));
  if (tally.failed > 0 || tally.passed === 0) process.exitCode = 1;
  console.log(sentence(tally));
} catch (error) {
  console.error(error instanceof Complaint ? `kiln: ${error.message}` : error);
  console.log(sentence(add(nothing, { passed: 0, failed: 1 })));
  process.exitCode = 1;
}
