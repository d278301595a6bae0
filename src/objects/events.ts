import { DurableObject } from "cloudflare:workers";
import type { Delivery } from "#domain/events/delivery";
import { logFailure } from "#log/log";
import type { Announcement } from "#model/announcement";
import type { EventName } from "#model/event-names";
import { openDatabase } from "#storage/db";
import { listWebhooksOf, type Webhook } from "#storage/webhooks";
import { AdvisoryMail } from "./advisory-mail.ts";
import { EventListeners } from "./event-listeners.ts";
import { EventLog, type StoredEvent } from "./event-log.ts";
import { WebhookDeliveries } from "./webhook-deliveries.ts";
import { WebhookSender } from "./webhook-sender.ts";

/** The wait before a retry if D1 could not be read. */
const retryMs = 30_000;

/**
 * The events of one account: the latest ones, the sockets of its open streams, and the deliveries to its webhooks and its
 * mail, which the alarm sends. An event and its deliveries are written together.
 */
export class Events extends DurableObject<Env> {
  readonly #log = new EventLog(this.ctx.storage.sql);
  readonly #deliveries = new WebhookDeliveries(this.ctx.storage.sql);
  readonly #sender = new WebhookSender(this.#deliveries, this.env);
  readonly #mail = new AdvisoryMail(this.ctx.storage.sql, this.env);
  readonly #listeners = new EventListeners(this.ctx);

  /**
   * Adds an event. Repeating it changes nothing. Reads the receivers first, so that nothing comes between the event and
   * its deliveries.
   */
  async announce(announcement: Announcement): Promise<void> {
    const webhooks = await this.#webhooks();
    const receiver = await this.#mail.receiverOf(announcement, this.#owner);
    const now = Date.now();
    const event = this.#log.add(announcement, now);
    if (!event) return;
    const asked = webhooks.filter(
      ({ events, disabledReason }) => disabledReason === null && events.includes(event.event),
    );
    for (const { uid } of asked) this.#deliveries.add(uid, event, now);
    if (receiver) this.#mail.add(event, announcement.isUrgent === true, now);
    this.#listeners.send(event);
    await this.#setAlarm();
  }

  /** A socket for the events from now on, or with `?after=` from the event after that one on. */
  override fetch(request: Request): Response {
    const now = Date.now();
    if (!this.#listeners.hasRoom(now)) return new Response(null, { status: 503 });
    const after = new URL(request.url).searchParams.get("after");
    return this.#listeners.accept(after === null ? [] : this.#log.after(Number(after)), now);
  }

  /** Ends all streams; returns how many there were. */
  hangUp(): number {
    const { count } = this.#listeners;
    this.#listeners.hangUp();
    return count;
  }

  /** Deletes all events, because the account is removed. Later ones are dropped. */
  async forget(): Promise<void> {
    this.hangUp();
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }

  latest(names: readonly EventName[], limit: number): StoredEvent[] {
    return this.#log.latest(names, limit);
  }

  listDeliveries(webhookUid: string): Delivery[] {
    return this.#deliveries.list(webhookUid);
  }

  async replay(
    webhookUid: string,
    deliveryId: number,
    requestId?: string,
  ): Promise<{ delivery: Delivery } | { refused: "unknown" | "full" }> {
    const repeated = this.#deliveries.repeat(webhookUid, { id: deliveryId, requestId }, Date.now());
    await this.#setAlarm();
    return repeated;
  }

  async forgetWebhook(webhookUid: string): Promise<void> {
    this.#deliveries.forget(webhookUid);
    await this.#setAlarm();
  }

  /** Never throws: the runtime drops an alarm that fails too often. */
  override async alarm(): Promise<void> {
    try {
      const webhooks = await this.#webhooks();
      this.#deliveries.forgetAllBut(webhooks.map(({ uid }) => uid));
      const mailed = this.#mail.send(this.#owner, Date.now());
      await Promise.all([mailed, ...webhooks.map((webhook) => this.#sender.send(webhook))]);
      await this.#setAlarm();
    } catch (error) {
      logFailure("could not send the events of an account", error, { account: this.#owner });
      await this.ctx.storage.setAlarm(Date.now() + retryMs);
    }
  }

  #webhooks(): Promise<Webhook[]> {
    return listWebhooksOf(openDatabase(this.env), this.#owner);
  }

  async #setAlarm(): Promise<void> {
    const nextAt = Math.min(this.#deliveries.nextAt ?? Infinity, this.#mail.nextAt ?? Infinity);
    if (nextAt === Infinity) await this.ctx.storage.deleteAlarm();
    else await this.ctx.storage.setAlarm(nextAt);
  }

  /** The account's uid. */
  get #owner(): string {
    return this.ctx.id.name ?? "";
  }
}
