/** How long the row of an agent is not read again. The call after that is also recorded in the row. */
const foundForMs = 60 * 60_000;
/** Limits how often calls write a row. */
const noteEveryMs = 20_000;

interface Known {
  agentId: number;
  foundAt: number;
}

const tokenKey = (tokenHmac: string) => `token ${tokenHmac}`;
const callPrefix = "call ";
const callKey = (agentId: number) => callPrefix + agentId;
const removedKey = "removed agents";

/** Agents whose rows were found recently, and when they called, so that an agent that looks for work needs no query. */
export class KnownAgents {
  readonly #kv: SyncKvStorage;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  /** The agent with this token. Undefined if its row was not found recently. */
  find(tokenHmac: string): number | undefined {
    const known = this.#kv.get<Known>(tokenKey(tokenHmac));
    return known && Date.now() - known.foundAt < foundForMs ? known.agentId : undefined;
  }

  /** Remembers an agent, unless it has been removed since its row was read. */
  remember(agentId: number, tokenHmac: string): void {
    if (this.#removed.has(agentId)) return;
    this.#kv.put(tokenKey(tokenHmac), { agentId, foundAt: Date.now() } satisfies Known);
  }

  noteCall(agentId: number, at: number): void {
    const isRecent = at - (this.#kv.get<number>(callKey(agentId)) ?? 0) < noteEveryMs;
    if (!isRecent && !this.#removed.has(agentId)) this.#kv.put(callKey(agentId), at);
  }

  /** When agents called, except for agents whose pings show that they are alive. */
  get calls(): { agentId: number; at: Date }[] {
    const calls = [...this.#kv.list<number>({ prefix: callPrefix })];
    return calls.map(([key, at]) => ({ agentId: Number(key.slice(callPrefix.length)), at: new Date(at) }));
  }

  /** Ids of agents without pings that have called since that moment. */
  calledSince(at: number): number[] {
    return this.calls.flatMap((call) => (call.at.getTime() > at ? [call.agentId] : []));
  }

  /** Forgets an agent that is being removed. Its row may still exist for a moment, and a call may have read it. */
  forget(agentId: number): void {
    this.#kv.put(removedKey, this.#removed.set(agentId, Date.now()));
    for (const [key, known] of this.#kv.list<Known>({ prefix: tokenKey("") })) {
      if (known.agentId === agentId) this.#kv.delete(key);
    }
    this.#kv.delete(callKey(agentId));
  }

  /** Agents that were removed within the time that a row counts as found, and when. */
  get #removed(): Map<number, number> {
    const all = this.#kv.get<Map<number, number>>(removedKey) ?? [];
    return new Map([...all].filter(([, at]) => Date.now() - at < foundForMs));
  }
}
