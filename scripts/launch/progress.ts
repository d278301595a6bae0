const spinner = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const drawEveryMs = 100;
/** Without a terminal, a long step prints a line at this interval. */
const remindEveryMs = 10_000;

/** Replaces the detail after a running step, e.g. with the last line of a command. */
export type Say = (detail: string) => void;

/** Runs one long step of the start, and prints one line with its duration. */
export async function step<T>(title: string, work: (say: Say) => Promise<T>): Promise<T> {
  const startedAt = Date.now();
  let detail = "";
  const show = process.stdout.isTTY ? spin : remind;
  const stop = show(() => ({ title, detail, elapsedMs: Date.now() - startedAt }));
  try {
    const result = await work((words) => (detail = words));
    stop();
    print(`✓ ${title} (${seconds(Date.now() - startedAt)})`);
    return result;
  } catch (error) {
    stop();
    print(`✗ ${title} (${seconds(Date.now() - startedAt)})`);
    throw error;
  }
}

/** Prints one line. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints one line that is important for the operator. */
export function warn(line: string): void {
  process.stderr.write(`! ${line}\n`);
}

type Now = () => { title: string; detail: string; elapsedMs: number };

function spin(now: Now): () => void {
  let frame = 0;
  const draw = () => {
    const { title, detail, elapsedMs } = now();
    const line = `${spinner[frame++ % spinner.length]} ${title} ${seconds(elapsedMs)} ${detail}`;
    process.stdout.write(`\r\u001b[2K${line.slice(0, (process.stdout.columns ?? 80) - 1)}`);
  };
  const timer = setInterval(draw, drawEveryMs);
  return () => {
    clearInterval(timer);
    process.stdout.write("\r\u001b[2K");
  };
}

function remind(now: Now): () => void {
  const timer = setInterval(() => {
    const { title, detail, elapsedMs } = now();
    print(`… ${title}, ${seconds(elapsedMs)}${detail === "" ? "" : `: ${detail}`}`);
  }, remindEveryMs);
  return () => clearInterval(timer);
}

/** 940 → "0.9 s", 12_345 → "12 s". */
export function seconds(ms: number): string {
  return `${ms < 10_000 ? (ms / 1000).toFixed(1) : Math.round(ms / 1000)} s`;
}
