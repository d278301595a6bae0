const spinner = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const drawEveryMs = 100;
/** Without a terminal, a long step prints a line at this interval. */
const remindEveryMs = 10_000;

/** Replaces the detail after a running step, e.g. with the last line of a command. */
export type Report = (detail: string) => void;

/** Runs one long step of the start, and prints one line with its duration. */
export async function step<T>(title: string, work: (say: Report) => Promise<T>): Promise<T> {
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
  process.stdout.write(`${spinning.size > 0 ? clearLine : ""}${line}\n`);
}

/** Prints one line that is important for the operator. */
export function warn(line: string): void {
  process.stderr.write(`! ${line}\n`);
}

type Now = () => { title: string; detail: string; elapsedMs: number };

const clearLine = "\r\u001b[2K";
/** Parallel steps share the line. */
const spinning = new Set<Now>();
let drawing: NodeJS.Timeout | undefined;

function spin(now: Now): () => void {
  spinning.add(now);
  drawing ??= setInterval(draw, drawEveryMs);
  return () => {
    spinning.delete(now);
    process.stdout.write(clearLine);
    if (spinning.size > 0) return;
    clearInterval(drawing);
    drawing = undefined;
  };
}

let frame = 0;
function draw(): void {
  const steps = [...spinning].map((now) => now());
  const titles = steps.map(({ title, elapsedMs }) => `${title} ${seconds(elapsedMs)}`).join(", ");
  const line = `${spinner[frame++ % spinner.length]} ${titles} ${steps.at(-1)?.detail}`;
  process.stdout.write(`${clearLine}${line.slice(0, (process.stdout.columns ?? 80) - 1)}`);
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
