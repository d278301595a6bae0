import { announceTestdrive } from "#domain/events/events";
import type { TestdriveState } from "#domain/testdrives/machine";
import { openDatabase } from "#storage/db";
import { saveTestdriveState, type Testdrive } from "#storage/testdrives";
import { Announcements } from "./announcements.ts";

export type RowState = Testdrive["state"];

interface Known {
  state: TestdriveState;
  /** An agent has claimed it. */
  isClaimed: boolean;
}

/** Writes a session's state to its row in D1 and announces it to the account, again until both have worked. */
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

  /** What the row says, even if this object has written something else. */
  rowIs(state: RowState): void {
    if (this.#told !== state) this.#kv.put("told", state);
  }

  /** In the same write as the state. A session that no agent claimed was refused: neither its start nor its end is announced. */
  note({ state, isClaimed }: Known): void {
    const at = Date.now();
    if (state.status === "running") {
      this.#announcements.note({ event: "testdrive.started", at, state: "running", message: "" });
    } else if (state.status === "ended" && isClaimed) {
      this.#announcements.note({ event: "testdrive.ended", at, state: "ended", message: state.reason });
    }
  }

  isTold(state: TestdriveState): boolean {
    return this.#told === rowState(state) && this.#announcements.isEmpty;
  }

  /** Writes the row if its state has changed, and announces what is noted. May be called again until that has worked. */
  async tell({ state }: Known): Promise<void> {
    const row = rowState(state);
    if (this.#told !== row) {
      await saveTestdriveState(openDatabase(this.#env.DB), this.#uid, row);
      this.#kv.put("told", row);
    }
    await this.#announcements.send((moment) => announceTestdrive(this.#env, this.#uid, moment));
  }

  get #told(): string | undefined {
    return this.#kv.get<string>("told");
  }
}

function rowState(state: TestdriveState): RowState {
  if (state.status === "running" || state.status === "ended") return state.status;
  return "new";
}
