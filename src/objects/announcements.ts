import type { Moment } from "#domain/events/events";
import type { EventName } from "#model/event-names";

/**
 * The events that an object still has to announce. Each is noted in the same write as the new state, so that no crash
 * loses it, and only once.
 */
export class Announcements {
  readonly #kv: SyncKvStorage;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  note(moment: Moment): void {
    const noted = this.#kv.get<EventName[]>("announcements noted") ?? [];
    if (noted.includes(moment.event)) return;
    this.#kv.put("announcements noted", [...noted, moment.event]);
    this.#kv.put("announcements", [...this.#waiting, moment]);
  }

  /** Sends the events in order. If one fails, it and the later ones are sent the next time. */
  async send(announce: (moment: Moment) => Promise<void>): Promise<void> {
    for (const moment of this.#waiting) {
      await announce(moment);
      this.#kv.put(
        "announcements",
        this.#waiting.filter(({ event }) => event !== moment.event),
      );
    }
  }

  get #waiting(): Moment[] {
    return this.#kv.get<Moment[]>("announcements") ?? [];
  }
}
