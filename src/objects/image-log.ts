import { DurableObject } from "cloudflare:workers";
import { publishLog } from "#domain/log/publish-log";
import { SingleFlight } from "#domain/single-flight";
import { LogEntries } from "./log-entries.ts";

/** R2 accepts one write per second to a key, here the checkpoint. The embedded R2 has no such limit. */
const writeEveryMs = 1_100;

/**
 * The public log. Being one object, it is the only writer, so two publications at the same time get two positions. It
 * stores an entry before it writes tiles, and the tiles before the checkpoint that covers them: after a crash, the next
 * call writes what is missing.
 */
export class ImageLog extends DurableObject<Env> {
  readonly #entries = new LogEntries(this.ctx.storage);
  readonly #publish = new SingleFlight(() => publishLog(this.env, this.#entries), {
    gapMs: this.env.MODE === "embedded" ? 0 : writeEveryMs,
  });

  /** Adds the entries that the log does not have. Returns their positions when a signed checkpoint covers all of them. */
  async append(entries: string[]): Promise<number[]> {
    const positions = entries.map((entry) => this.#entries.add(entry));
    await this.#publish.run();
    return positions;
  }
}
