import { DurableObject } from "cloudflare:workers";
import { SingleFlight } from "#domain/single-flight";
import { writeUserRepository } from "#domain/repositories/user-repository";
import { openDatabase } from "#storage/db";

/** R2 accepts one write per second to a key, here `repomd.xml`. The embedded R2 has no such limit. */
const writeEveryMs = 1_100;

/** The index of one user repository, named by its row's uid: in one object, simultaneous uploads share a write. */
export class UserRepositoryIndex extends DurableObject<Env> {
  readonly #writes = new SingleFlight(
    () => writeUserRepository({ env: this.env, db: openDatabase(this.env) }, this.#uid),
    {
      gapMs: this.env.MODE === "embedded" ? 0 : writeEveryMs,
    },
  );

  /** Returns when the index contains all uploads that existed at the call. */
  publish(): Promise<void> {
    return this.#writes.run();
  }

  get #uid(): string {
    return this.ctx.id.name ?? "";
  }
}
