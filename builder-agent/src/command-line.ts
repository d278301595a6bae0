/** A command line that cannot be used; the message is for the person who typed it. */
export class UsageRefused extends Error {}

/** Runs `parseArgs`. Turns its error into one sentence, followed by the usage. */
export function orRefuse<T>(parse: () => T, usage: string): T {
  try {
    return parse();
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split(". ");
    throw new UsageRefused(`${reason}. With npm, put options after --.\n\n${usage}`);
  }
}
