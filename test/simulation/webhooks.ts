import { createWebhook } from "#domain/events/webhook";
import { Chance } from "../../scripts/chance.ts";
import { cross } from "./runtime/actors.ts";
import { clock } from "./runtime/clock.ts";
import { randomUUID } from "./runtime/globals.ts";
import { unlessAborted } from "./runtime/network.ts";
import type { Service } from "./runtime/service.ts";
import type { Insist } from "./users.ts";

/** How a receiver treats its next messages. */
type Answer = "takes it" | "takes it and is not heard" | "refuses it" | "is silent";

const longestSilenceMs = 20_000;

/** A user's server that receives the events of an account. */
class Receiver {
  /** How often each event has arrived, by its id. */
  readonly received = new Map<number, number>();
  readonly accountUid: string;
  readonly #chance: Chance;
  /** Whether the receiver rejects all messages. */
  readonly isDead: boolean;
  readonly addedAt = clock.now;

  constructor(accountUid: string, pick: number) {
    this.accountUid = accountUid;
    this.#chance = new Chance(pick);
    this.isDead = pick % 5 === 0;
  }

  async answer({ id }: { id: number }): Promise<Response> {
    const answer = this.#next();
    if (answer.startsWith("takes")) this.received.set(id, (this.received.get(id) ?? 0) + 1);
    if (answer === "takes it and is not heard") throw new Error("simulated: the connection was closed");
    if (answer === "is silent") await clock.sleep(longestSilenceMs);
    return new Response(null, { status: answer === "refuses it" ? 500 : 204 });
  }

  #next(): Answer {
    const others = ["takes it and is not heard", "refuses it", "is silent"] as const;
    const other = this.#chance.oneOf(others) ?? "refuses it";
    if (this.isDead) return other === "is silent" ? other : "refuses it";
    return this.#chance.between(1, 3) === 1 ? other : "takes it";
  }
}

/** The users who have their events sent to a server. */
export class Subscribers {
  readonly #service: Service;
  readonly #insist: Insist;
  /** The receivers by the uid of their webhook. */
  readonly receivers = new Map<string, Receiver>();

  constructor(service: Service, insist: Insist) {
    this.#service = service;
    this.#insist = insist;
  }

  start({ id, uid }: { id: number; uid: string }, pick: number): void {
    const requestId = randomUUID();
    const url = `https://hooks.example.org/${requestId}`;
    this.#insist(() => async () => {
      await createWebhook(this.#service, id, { url, requestId });
      return () => void this.receivers.set(requestId, new Receiver(uid, pick));
    });
  }

  /** The service's `fetch`. A signal aborts it, as on the platform. */
  async fetch(address: string, { body, signal }: RequestInit): Promise<Response> {
    const uid = new URL(address).pathname.slice(1);
    return await cross("POST to a webhook", async () => {
      const receiver = this.receivers.get(uid);
      if (!receiver) return new Response(null, { status: 404 });
      return await unlessAborted(receiver.answer(JSON.parse(String(body))), signal);
    });
  }
}
