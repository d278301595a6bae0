/** An error that the operator can fix. Its message is a full sentence, and is shown without a stack trace. */
export class Complaint extends Error {}

/** Runs `parseArgs`. Turns its error into a Complaint with the usage. */
export function orComplaint<T>(parse: () => T, usage: string): T {
  try {
    return parse();
  } catch (error) {
    throw new Complaint(`${error instanceof Error ? error.message.split(". ")[0] : String(error)}.\n\n${usage}`);
  }
}

/**
 * Runs a command, and sets the exit code after an error.
 * @param name of the command, for the message of an internal error
 */
export async function runCommand(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Complaint) console.error(`kiln: ${error.message}`);
    else console.error(`kiln: internal error of the ${name} command:`, error);
    process.exitCode = error instanceof Complaint ? 1 : 70; // sysexits(3): internal software error
  }
}
