import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { Complaint } from "../complaint.ts";

/** The exit code by which shells report SIGINT. */
const interrupted = 130;

/** Asks on the terminal. Without a terminal, reads the answer as a line of the input. */
export async function ask(question: string): Promise<string> {
  return await answerTo(question, process.stderr);
}

/** The same, but does not show what is typed. */
export async function askSecretly(question: string): Promise<string> {
  const answer = await answerTo(question, silent(question));
  if (process.stdin.isTTY) process.stderr.write("\n");
  return answer;
}

async function answerTo(question: string, output: NodeJS.WritableStream): Promise<string> {
  const isTerminal = process.stdin.isTTY;
  const lines = createInterface({ input: process.stdin, output, terminal: isTerminal });
  // readline takes Ctrl-C from the terminal.
  lines.on("SIGINT", () => process.exit(interrupted));
  try {
    if (isTerminal) return (await lines.question(question)).trim();
    for await (const line of lines) return line.trim();
  } finally {
    lines.close();
  }
  const next = "Run it on a terminal, or write the answer to its input.";
  throw new Complaint("misused", `There is no answer to "${question.trim()}"`, next);
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
