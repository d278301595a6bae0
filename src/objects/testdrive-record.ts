import { endAttempt } from "#domain/checks/attempt";
import { announceTestdrive } from "#domain/events/events";
import type { TestdriveState } from "#domain/testdrives/machine";
import { reportLivenessEveryMs, wakeWhenSilent } from "#domain/liveness";
import { openDatabase } from "#storage/db";
import { saveTestdrive, type Testdrive } from "#storage/testdrives";
import { Announcements } from "./announcements.ts";

export type RowState = Pick<Testdrive, "state" | "agentId">;

interface Known {
  state: TestdriveState;
  /** The agent that claimed the session. */
  agentId: number | null;
  /** Whether the session checks an image. */
  isCheck: boolean;
}

/**
 * Writes a session's state and liveness to its row in D1, and announces the state to the account, until both have
 * succeeded.
 */
export class TestdriveRecord {
  readonly #env: Env;
  readonly #kv: SyncKvStorage;
  readonly #uid: string;
  readonly #announcements: Announcements;

  constructor(env: Env, kv: SyncKvStorage, uid: string) {
    this.#env = env;
    this.#kv = kv;
    this.#uid = uid;
    this.#announcements = new Announcements(kv);
  }

  /** Notes the row's state, even if this object has written something else. */
  rowIs(row: RowState): void {
    this.#kv.put("stored", { word: wordFor(row), at: Date.now() });
  }

  /**
   * Notes the events of a state, in the same write as the state. A session that no agent claimed was refused, so
   * neither its start nor its end is announced. A session for checks is not a testdrive of the account.
   */
  note({ state, agentId, isCheck }: Known): void {
    if (isCheck) return;
    const at = Date.now();
    if (state.status === "running") {
      this.#announcements.note({ event: "testdrive.started", at, state: "running", message: "" });
    } else if (state.status === "ended" && agentId !== null) {
      this.#announcements.note({ event: "testdrive.ended", at, state: "ended", message: state.reason });
    }
  }

  isReported(known: Known): boolean {
    return this.#rowHas(known) && this.#announcements.isEmpty;
  }

  /** Writes the row if it changed or its liveness is due, and announces noted events. Repeat until it succeeds. */
  async report(known: Known): Promise<void> {
    if (!this.#rowHas(known)) {
      const row = rowOf(known);
      const at = Date.now();
      const db = openDatabase(this.#env);
      await saveTestdrive(db, this.#uid, { ...row, wakeAt: wakeWhenSilent(at) });
      const { isCheck, state } = known;
      if (isCheck && state.status === "ended") await endAttempt({ env: this.#env, db }, this.#uid, state.reason);
      this.#kv.put("stored", { word: wordFor(row), at });
    }
    await this.#announcements.send((moment) => announceTestdrive(this.#env, this.#uid, moment));
  }

  #rowHas(known: Known): boolean {
    const stored = this.#kv.get<{ word: string; at: number }>("stored");
    const isRecent = known.state.status === "ended" || Date.now() - (stored?.at ?? 0) < reportLivenessEveryMs;
    return stored?.word === wordFor(rowOf(known)) && isRecent;
  }
}

const wordFor = ({ state, agentId }: RowState) => `${state} ${agentId}`;

function rowOf({ state: { status }, agentId }: Pick<Known, keyof RowState>): RowState {
  return { state: status === "running" || status === "ended" ? status : "new", agentId };
}
