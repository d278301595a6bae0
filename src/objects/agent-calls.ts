import type { BuildWanted } from "#domain/builds/builder-abilities";
import { nextAgentAfterMs, sendJob, wakeAgent } from "#domain/jobs";

interface Calls {
  /** The round that these calls belong to. */
  round: number;
  /** When the next agent is woken. Null if no agent is free: the first one that becomes free looks for work itself. */
  nextAt: number | null;
}

/**
 * Calls agents for a queued build. Each round puts a message into the queue, and wakes free agents that can do the
 * build, one after another.
 */
export class AgentCalls {
  readonly #env: Env;
  readonly #kv: SyncKvStorage;
  readonly #buildId: () => number;

  constructor(env: Env, kv: SyncKvStorage, buildId: () => number) {
    this.#env = env;
    this.#kv = kv;
    this.#buildId = buildId;
  }

  get wanted(): BuildWanted | undefined {
    return this.#kv.get<BuildWanted>("wanted");
  }

  noteWanted(wanted: BuildWanted): void {
    this.#kv.put("wanted", wanted);
  }

  /** When `call` must run again before the next round. Infinity if it need not. */
  get nextCallAt(): number {
    return this.#calls?.nextAt ?? Infinity;
  }

  /** Makes the calls that are due. It can be repeated if it fails. */
  async call(round: number, requestId: string | undefined): Promise<void> {
    const isAgain = this.#calls?.round === round;
    if (isAgain && Date.now() < this.nextCallAt) return;
    if (!isAgain) {
      await sendJob(this.#env, {
        kind: "build",
        buildId: this.#buildId(),
        ...(requestId !== undefined && { requestId }),
      });
    }
    const { wanted } = this;
    const isWoken = wanted !== undefined && (await wakeAgent(this.#env, { kind: "build", wanted, isAgain }));
    this.#kv.put("calls", { round, nextAt: isWoken ? Date.now() + nextAgentAfterMs : null } satisfies Calls);
  }

  get #calls(): Calls | undefined {
    return this.#kv.get<Calls>("calls");
  }
}
