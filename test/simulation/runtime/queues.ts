import { Actor, asPlatform, cross } from "./actors.ts";
import { clock } from "./clock.ts";

interface Letter {
  id: string;
  body: unknown;
  timestamp: Date;
  attempts: number;
}

/** The outcome of the next messages of a queue. */
export type Mishap = "drop" | "repeat" | "delay";

export interface QueueSettings {
  name: string;
  maxRetries: number;
  consume: (batch: object) => Promise<void>;
  /** The queue for messages that have failed at every attempt. */
  deadLetters?: SimulatedQueue;
}

/** A queue like the platform's: it delivers at least once, in any order. */
export class SimulatedQueue {
  readonly #settings: QueueSettings;
  #sent = 0;
  /** The faults of the next messages, one each. */
  mishaps: Mishap[] = [];
  /** The delay of a message. Delays differ, so messages arrive in another order. */
  travelMs: () => number = () => 20;
  /** Increases when the process with the messages in memory ends, which loses them. */
  #generation = 0;

  constructor(settings: QueueSettings) {
    this.#settings = settings;
  }

  reset(): void {
    this.#sent = 0;
    this.loseAll();
    this.mishaps = [];
  }

  loseAll(): void {
    this.#generation += 1;
  }

  async send(body: unknown): Promise<void> {
    await this.sendBatch([{ body }]);
  }

  async sendBatch(messages: { body: unknown }[]): Promise<void> {
    await cross(`queue ${this.#settings.name}`, () => {
      for (const { body } of messages) this.#accept(structuredClone(body));
    });
  }

  #accept(body: unknown): void {
    const letter = { id: `${this.#settings.name}-${(this.#sent += 1)}`, body, timestamp: new Date(), attempts: 0 };
    const mishap = this.mishaps.shift();
    if (mishap === "drop") return;
    this.#deliverAfter(this.travelMs() + (mishap === "delay" ? 90_000 : 0), letter);
    if (mishap === "repeat") this.#deliverAfter(this.travelMs() + 5_000, letter);
  }

  #deliverAfter(ms: number, letter: Letter): void {
    const generation = this.#generation;
    const deliver = () => {
      if (generation === this.#generation) void this.#deliver(letter);
    };
    asPlatform(() => clock.after(ms, deliver));
  }

  async #deliver(letter: Letter): Promise<void> {
    let isRetried = false;
    const retry = () => void (isRetried = true);
    const message = { ...letter, attempts: letter.attempts + 1, ack: () => {}, retry };
    const batch = { queue: this.#settings.name, messages: [message], ackAll: () => {}, retryAll: retry };
    const consumer = new Actor("request", `consumer of ${this.#settings.name}`);
    consumers.add(consumer);
    await consumer
      .do(
        () => this.#settings.consume(batch),
        () => new Error("simulated: the consumer was lost"),
      )
      .catch(retry)
      .finally(() => consumers.delete(consumer));
    if (!isRetried) return;
    const { maxRetries, deadLetters } = this.#settings;
    if (letter.attempts < maxRetries) this.#deliverAfter(1_000, { ...letter, attempts: letter.attempts + 1 });
    else if (deadLetters) deadLetters.#accept(letter.body);
  }
}

/** Invocations of the Worker that are running. They die with its process. */
export const consumers = new Set<Actor>();
