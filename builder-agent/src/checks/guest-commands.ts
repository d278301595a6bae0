import { connect, type Socket } from "node:net";

/** How a command ended, and the beginning of its output. */
export interface CommandEnd {
  exit: number;
  output: string;
}

/** The number of a command, its exit code, and its output in base64. */
const answer = /^(\d+) (\d{1,3}) ([A-Za-z0-9+/=]*)$/;
/** A line that is longer than any answer is invalid. */
const longestLine = 8 * 1024;
/** A machine that restarts itself starts the program again. */
const maxStarts = 5;

interface Waiting {
  line: string;
  settle: (end: CommandEnd) => void;
}

/**
 * Runs commands in a machine through the program that its image has for checks (src/lib/kiwi/check-commands.ts). If a
 * machine writes anything but answers, its connection is closed.
 */
export class GuestCommands implements Disposable {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  #number = 0;
  #starts = 0;
  #begun = "";

  /** @param path QEMU's socket, which must exist */
  constructor(path: string) {
    this.#socket = connect({ path }).setEncoding("latin1");
    this.#socket.on("error", () => {}); // a machine that has ended answers nothing more
    this.#socket.on("data", (text: string) => this.#take(text));
  }

  /** Whether the program has started. */
  get isReady(): boolean {
    return this.#starts > 0;
  }

  /** Never settles if the machine gives no answer. If the machine restarts first, it runs the command again. */
  run(command: string): Promise<CommandEnd> {
    const number = (this.#number += 1);
    const line = `${number} ${Buffer.from(command).toString("base64")}\n`;
    this.#socket.write(line);
    return new Promise((settle) => void this.#waiting.set(number, { line, settle }));
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #take(text: string): void {
    const lines = (this.#begun + text).split("\n");
    this.#begun = lines.pop() ?? "";
    if (!lines.every((line) => this.#isHeard(line)) || this.#begun.length > longestLine) this.#socket.destroy();
  }

  /** Everything that a machine may write is limited by the number of commands. */
  #isHeard(line: string): boolean {
    if (line === "ready") return this.#takeStart();
    const [, number, exit, output = ""] = answer.exec(line) ?? [];
    const waiting = this.#waiting.get(Number(number));
    waiting?.settle({ exit: Number(exit), output: Buffer.from(output, "base64").toString() });
    return this.#waiting.delete(Number(number));
  }

  #takeStart(): boolean {
    this.#starts += 1;
    if (this.#starts > 1) for (const { line } of this.#waiting.values()) this.#socket.write(line);
    return this.#starts <= maxStarts;
  }
}
