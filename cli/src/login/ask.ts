import { createInterface, type Interface } from "node:readline/promises";
import { Writable } from "node:stream";
import { Complaint } from "../complaint.ts";

/** The exit code that shells use for SIGINT. */
const interrupted = 130;

/** Asks on the terminal. Without a terminal, reads a line of the input as the answer. */
export async function ask(question: string): Promise<string> {
  return await answerTo(question, process.stderr);
}

/** Asks without showing what is typed. */
export async function askSecretly(question: string): Promise<string> {
  const answer = await answerTo(question, silent(question));
  if (process.stdin.isTTY) process.stderr.write("\n");
  return answer;
}

async function answerTo(question: string, output: NodeJS.WritableStream): Promise<string> {
  const answer = process.stdin.isTTY ? await typedAnswer(question, output) : await nextLine();
  if (answer !== undefined) return answer.trim();
  const next = "Run it on a terminal, or write the answer to its input.";
  throw new Complaint("misused", `There is no answer to "${question.trim()}"`, next);
}

async function typedAnswer(question: string, output: NodeJS.WritableStream): Promise<string> {
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  // readline handles Ctrl-C itself, so the terminal sends no signal.
  lines.on("SIGINT", () => process.exit(interrupted));
  try {
    return await lines.question(question);
  } finally {
    lines.close();
  }
}

let input: Interface | undefined;
let lines: AsyncIterator<string> | undefined;

/**
 * Uses one reader for all questions. It reads ahead, so a second one would miss the answers that the first one has
 * read.
 */
async function nextLine(): Promise<string | undefined> {
  input ??= createInterface({ input: process.stdin });
  lines ??= input[Symbol.asyncIterator]();
  const { value, done } = await lines.next();
  if (done === true) return undefined;
  input.pause(); // otherwise an open input would keep the process running
  return value;
}

/** Writes the question, but not what readline echoes. */
function silent(question: string): Writable {
  let isAsked = false;
  return new Writable({
    write(chunk, _encoding, done) {
      if (!isAsked && String(chunk).includes(question)) {
        isAsked = true;
        process.stderr.write(question);
      }
      done();
    },
  });
}
