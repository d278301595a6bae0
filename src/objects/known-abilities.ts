import { createHash } from "node:crypto";
import type { Capabilities } from "#lib/contract/index";
import type { AbleAgent } from "#domain/builds/agents-seen";
import type { PooledAgent } from "./pool-sockets.ts";

const prefix = "can ";

/** The abilities of connected agents. Most agents have the same ones, and a socket has room only for a key. */
export class KnownAbilities {
  readonly #kv: SyncKvStorage;
  readonly #read = new Map<string, Capabilities>();

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  find(key: string): Capabilities | undefined {
    const known = this.#read.get(key) ?? this.#kv.get<Capabilities>(prefix + key);
    if (known) this.#read.set(key, known);
    return known;
  }

  /** The different abilities of agents, and the ids of those that have not reported theirs. */
  different(agents: readonly PooledAgent[]): { known: AbleAgent[]; unknown: number[] } {
    const found = new Map<string, AbleAgent>();
    const unknown: number[] = [];
    for (const { agentId, member } of agents) {
      const { abilities, isDrained = false } = member;
      const capabilities = abilities === undefined ? undefined : this.find(abilities);
      if (capabilities) found.set(`${abilities} ${isDrained}`, { capabilities, isDrained });
      else unknown.push(agentId);
    }
    return { known: [...found.values()], unknown };
  }

  /**
   * Stores abilities, and returns their key. If they are new, deletes those that no connected agent has.
   *
   * @param inUse the keys that agents have
   */
  note(can: Capabilities, inUse: () => readonly string[]): string {
    const key = createHash("sha256").update(JSON.stringify(can)).digest("base64url");
    if (this.find(key)) return key;
    this.#forgetAllBut(inUse());
    this.#kv.put(prefix + key, can);
    return key;
  }

  #forgetAllBut(inUse: readonly string[]): void {
    const used = new Set(inUse);
    for (const [stored] of this.#kv.list({ prefix })) {
      const key = stored.slice(prefix.length);
      if (used.has(key)) continue;
      this.#kv.delete(stored);
      this.#read.delete(key);
    }
  }
}
