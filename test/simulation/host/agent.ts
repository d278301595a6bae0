import { createHash } from "node:crypto";
import { runAgent } from "agent:agent";
import { connectQueue } from "agent:queue";
import { withRetry } from "agent:retry";
import { connectWorker } from "agent:worker-api";
import type { Capabilities } from "#lib/contract/index";
import { slots } from "../check.ts";
import { Actor } from "../runtime/actors.ts";
import { clock } from "../runtime/clock.ts";

const capabilities: Capabilities = {
  arches: ["x86_64"],
  imageTypes: ["oem", "iso"],
  isolation: "none",
  testdrives: true,
  machines: ["x86_64"],
  builder: "9.24.56",
};

/** A build host with one agent. The host restarts the agent after it has died. */
export class Host {
  readonly name: string;
  readonly #token: string;
  #process: Actor | undefined;
  #starts = 0;
  log: (line: string) => void = () => {};

  constructor(name: string, token: string) {
    this.name = name;
    this.#token = token;
  }

  get process(): Actor | undefined {
    return this.#process?.isDead ? undefined : this.#process;
  }

  start(): void {
    this.#starts += 1;
    const process = new Actor("agent", `agent ${this.name}, start ${this.#starts}`);
    this.#process = process;
    void process
      .do(
        () => this.#run(),
        () => new Error("killed"),
      )
      .catch((error: unknown) => this.log(`agent ${this.name} ended: ${String(error)}`));
  }

  /** Kills the agent, and restarts it after a while. */
  kill(restartMs: number): void {
    this.#process?.die();
    clock.after(restartMs, () => this.process ?? this.start());
  }

  async #run(): Promise<void> {
    const config = {
      name: this.name,
      url: "http://kiln",
      token: this.#token,
      queueUrl: "http://kiln/client/v4/accounts/a/queues/q",
      queueToken: this.#token,
      slots,
      testdriveSlots: slots,
      memoryMb: 1024,
      testdriveDiskGb: 1,
      stateDir: "/nowhere",
      vnc: null,
    };
    const host = createHash("md5").update(this.name).digest("hex");
    const api = connectWorker(config, { host, start: this.#starts });
    const { signal } = new AbortController();
    const tries = { attempts: Infinity, baseDelayMs: 1_000, maxDelayMs: 15_000, signal };
    await withRetry(() => api.hello(capabilities, signal), tries);
    const examine = async () => capabilities;
    const log = (text: string, facts: object = {}) => this.log(`agent ${this.name}: ${text} ${JSON.stringify(facts)}`);
    await runAgent({ config, capabilities, examine, api, queue: connectQueue(config), cache: {}, log }, signal);
  }
}
