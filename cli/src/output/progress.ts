import { Painter } from "./painter.ts";
import { bytes, visible } from "./table.ts";

export interface Bar {
  name: string;
  percent: number;
  /** The current stage. */
  stage: string;
  /** More about the stage, for a terminal. */
  detail?: string;
  secondsLeft?: number | undefined;
}

/** Progress bars that are redrawn in place on a terminal. Elsewhere it prints a line for each new stage. */
export class Bars {
  readonly #out = process.stderr;
  readonly #paint = new Painter(process.stderr);
  readonly #bars = new Map<string, Bar>();
  #drawn = 0;
  #drawnAt = 0;

  show(bar: Bar): void {
    const before = this.#bars.get(bar.name);
    this.#bars.set(bar.name, bar);
    const isDue = bar.percent >= 100 || Date.now() - this.#drawnAt >= drawEveryMs;
    if (this.#out.isTTY && isDue) this.#draw();
    if (!this.#out.isTTY && stageOf(before) !== stageOf(bar))
      this.#out.write(`${bar.name} ${bar.percent}% ${visible(bar.stage)}\n`);
  }

  #draw(): void {
    this.#drawnAt = Date.now();
    const up = this.#drawn > 0 ? `\u001B[${this.#drawn}A` : "";
    const lines = [...this.#bars.values()].map((bar) => `\u001B[2K${this.#line(bar)}\n`);
    this.#out.write(up + lines.join(""));
    this.#drawn = lines.length;
  }

  #line({ name, percent, stage, detail, secondsLeft }: Bar): string {
    const done = Math.round((Math.min(percent, 100) / 100) * width);
    const bar = this.#paint.green("━".repeat(done)) + this.#paint.dim("━".repeat(width - done));
    const rest = ` ${String(percent).padStart(3)}%${secondsLeft === undefined ? "" : `  ${duration(secondsLeft)} left`}`;
    const room = Math.max(10, (this.#out.columns || 80) - name.length - width - rest.length - 4);
    return `${name} ${bar}${rest}  ${visible([stage, detail].filter(Boolean).join(" ")).slice(0, room)}`;
  }
}

/** Shows how much of a file was transferred. */
export function transferBar(name: string) {
  const bars = new Bars();
  return (stage: string, arrived: number, whole: number) =>
    bars.show({
      name,
      percent: Math.floor((100 * arrived) / whole),
      stage,
      detail: `${bytes(arrived)} of ${bytes(whole)}`,
    });
}

const width = 24;
const drawEveryMs = 100;

/** `Installing software (12/48) busybox` is the same stage for every package. */
const stageOf = (bar: Bar | undefined): string | undefined => bar?.stage.split(" (")[0];

/** `1 min 20 s` */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
