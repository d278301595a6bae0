import type { Check } from "./check.ts";
import type { World } from "./world.ts";

/** The longest time from an event to the last attempt at it, and the attempts that fit into it. */
const longestMs = 24 * 3_600_000;
const mostAttempts = 24;
/** An attempt, and the wait of an object that cannot read D1. */
const travelMs = 60_000;

/** An event that is announced while the webhook is added may or may not be sent to it. */
const announcingMs = 15_000;

interface Row {
  webhookId: string;
  eventId: number;
  state: string;
  attempts: number;
  createdAt: number;
  attemptedAt: number | null;
}

/** None of an object that died before it had made its tables. */
const deliveriesOf = ({ service }: World): Row[] =>
  [...service.objects.EVENTS.existing.values()].flatMap(({ storage }) =>
    storage.read("SELECT 1 FROM sqlite_master WHERE name = 'deliveries'").length === 0
      ? []
      : (storage.read("SELECT * FROM deliveries") as unknown as Row[]),
  );

const nameOf = ({ eventId, webhookId }: Row) => `event ${eventId} for ${webhookId}`;

export const webhookChecks: readonly Check[] = [
  {
    name: "a delivered event has arrived",
    when: "step",
    violations: (world) => {
      const { receivers } = world.users.subscribers;
      if (receivers.size === 0) return [];
      return deliveriesOf(world)
        .filter(({ webhookId, eventId, state }) => {
          const receiver = receivers.get(webhookId);
          return state === "delivered" && receiver && !receiver.received.has(eventId);
        })
        .map(nameOf);
    },
  },
  {
    name: "every event is for every webhook that was there before it",
    when: "end",
    violations: (world) => {
      const known = new Set(deliveriesOf(world).map(nameOf));
      return [...world.users.subscribers.receivers].flatMap(([webhookId, { accountUid, addedAt }]) => {
        const account = world.service.objects.EVENTS.existing.get(accountUid);
        const later = `SELECT id FROM events WHERE at > ${addedAt + announcingMs}`;
        const rows = account?.storage.read(later).map(({ id }) => ({ webhookId, eventId: Number(id) }) as Row) ?? [];
        return rows.map(nameOf).filter((name) => !known.has(name));
      });
    },
  },
  {
    name: "a webhook's event is delivered or given up within a day",
    when: "a day later",
    violations: (world) =>
      deliveriesOf(world)
        .filter(({ state, attempts, attemptedAt, createdAt }) => {
          const isLate = (attemptedAt ?? Infinity) - createdAt > longestMs + travelMs;
          return state === "waiting" || isLate || attempts > mostAttempts;
        })
        .map((row) => `${nameOf(row)} is ${row.state} after ${row.attempts} attempts`),
  },
  {
    name: "a webhook that takes one message in three gets every event",
    when: "a day later",
    violations: (world) =>
      deliveriesOf(world)
        .filter(({ webhookId, state }) => {
          const receiver = world.users.subscribers.receivers.get(webhookId);
          return receiver && !receiver.isDead && state !== "delivered";
        })
        .map(nameOf),
  },
];
