import { importForAccount, importNow } from "#domain/repositories/repository";
import { Mirrors } from "./mirrors.ts";
import { randomUUID } from "./runtime/globals.ts";
import type { Service } from "./runtime/service.ts";
import type { Insist } from "./users.ts";

/** The users who add repositories. */
export class Importers {
  readonly #service: Service;
  readonly #insist: Insist;
  readonly mirrors = new Mirrors();
  /** The ids of repositories that their users know as imported. */
  readonly ready = new Set<number>();
  readonly #asked = new Map<number, number>();

  constructor(service: Service, insist: Insist) {
    this.#service = service;
    this.#insist = insist;
  }

  /** Adds a repository to an account. */
  start(accountId: number, pick: number): void {
    const url = this.mirrors.choose(pick);
    const requestId = randomUUID();
    this.#insist(() => async () => {
      const request = { url, name: `tools ${pick}`, acceptsExpired: false, requestId };
      const { id, importState } = await importForAccount(this.#service, accountId, request);
      return () => void (importState === "ready" && this.ready.add(id));
    });
  }

  /** Changes a mirror, and requests imports of its repositories. */
  publish(pick: number): void {
    const url = this.mirrors.publish(pick);
    const repositories = this.#service.database.query(`SELECT id FROM repositories WHERE url = '${url}' ORDER BY id`);
    const revision = this.mirrors.of(url)?.counts.length ?? 0;
    for (const id of repositories.map((row) => Number(row["id"])))
      this.#insist(() => async () => {
        await importNow(this.#service, id);
        return () => void this.#asked.set(id, Math.max(revision, this.askedFor(id)));
      });
  }

  /** The newest revision whose import was requested. 0 if there is none. */
  askedFor(repositoryId: number): number {
    return this.#asked.get(repositoryId) ?? 0;
  }

  /** Whether imports wait or run. */
  get areBusy(): boolean {
    return this.#service.database.query("SELECT * FROM import_turns").length > 0;
  }
}
