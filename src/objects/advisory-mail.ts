import { baseUrlOf } from "#domain/base-url";
import { afterAttempt } from "#domain/events/delivery";
import { failureOf, hasSucceeded } from "#domain/events/post";
import { AffectedImage, advisoryMail, mailAt } from "#domain/mail/advisory-mail";
import { sendMail, sendsMail, type MailEnv } from "#domain/mail/sender";
import { logFailure } from "#log/log";
import type { Announcement } from "#model/announcement";
import { findMailedAccount, type Account } from "#storage/accounts";
import { type Databases, openDatabase } from "#storage/db";
import type { StoredEvent } from "./event-log.ts";
import { bringTables } from "./tables.ts";

const tables = [
  `CREATE TABLE IF NOT EXISTS mail_news
     (buildId INTEGER PRIMARY KEY, eventId INTEGER NOT NULL, isUrgent INTEGER NOT NULL, text TEXT NOT NULL);
   CREATE TABLE IF NOT EXISTS mail_turn (id INTEGER PRIMARY KEY, sentAt INTEGER, nextAt INTEGER, triedAt INTEGER,
     attempts INTEGER NOT NULL);
   INSERT INTO mail_turn (id, attempts) VALUES (1, 0) ON CONFLICT DO NOTHING`,
];

type Turn = { sentAt: number | null; nextAt: number | null; triedAt: number | null; attempts: number };

/** The mail to an account about its images. Keeps the latest news of each image until a mail with all of them is sent. */
export class AdvisoryMail {
  readonly #sql: SqlStorage;
  readonly #env: MailEnv & Databases;

  constructor(sql: SqlStorage, env: MailEnv & Databases) {
    this.#sql = sql;
    this.#env = env;
    bringTables(sql, "mail", tables);
  }

  /** The account that an event is mailed to. Few events are mailed, so most cost no query. */
  async receiverOf({ event }: Pick<Announcement, "event">, owner: string): Promise<Account | undefined> {
    if (event !== "image.affected" || !sendsMail(this.#env)) return undefined;
    return await findMailedAccount(openDatabase(this.#env), owner);
  }

  add({ id, text }: StoredEvent, isUrgent: boolean, now: number): void {
    const { data } = AffectedImage.safeParse(JSON.parse(text));
    if (!data) return;
    this.#sql.exec(
      `INSERT INTO mail_news (buildId, eventId, isUrgent, text) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET eventId = excluded.eventId, isUrgent = max(isUrgent, excluded.isUrgent), text = excluded.text`,
      data.image.build_id,
      id,
      Number(isUrgent),
      text,
    );
    const { sentAt, nextAt } = this.#turn;
    this.#setNextAt(Math.min(nextAt ?? Infinity, mailAt({ isUrgent, sentAt, now })));
  }

  /** When the next mail is due; null if there is no news. */
  get nextAt(): number | null {
    return this.#turn.nextAt;
  }

  /** Sends the mail if it is due. A failed mail is retried at the same intervals as a webhook delivery. */
  async send(owner: string, now: number): Promise<void> {
    const { nextAt } = this.#turn;
    if (nextAt === null || nextAt > now) return;
    const account = await this.receiverOf({ event: "image.affected" }, owner);
    if (!account) return this.#end(this.#news.last, this.#turn.sentAt);
    const { images, last } = this.#news;
    const mail = advisoryMail(account, images, baseUrlOf(this.#env));
    const outcome = await sendMail(this.#env, mail, `${owner}-${last}`);
    const at = Date.now();
    if (hasSucceeded(outcome)) return this.#end(last, at);
    const { triedAt, attempts, sentAt } = this.#turn;
    const createdAt = triedAt ?? at;
    const after = afterAttempt({ createdAt, attempts }, false, { at, random: Math.random() });
    if (after.state === "failed") {
      logFailure("could not mail the advisories of an account", failureOf(outcome), { account: owner });
      return this.#end(last, sentAt);
    }
    this.#sql.exec(
      "UPDATE mail_turn SET nextAt = ?, triedAt = ?, attempts = ?",
      after.nextAt,
      createdAt,
      after.attempts,
    );
  }

  get #turn(): Turn {
    return this.#sql.exec<Turn>("SELECT sentAt, nextAt, triedAt, attempts FROM mail_turn").one();
  }

  get #news() {
    const rows = this.#sql.exec<{ eventId: number; text: string }>("SELECT eventId, text FROM mail_news").toArray();
    const images = rows.map(({ text }) => AffectedImage.parse(JSON.parse(text)).image);
    return { images, last: Math.max(0, ...rows.map(({ eventId }) => eventId)) };
  }

  /** Forgets the news up to an event. Later news becomes due as if it had just arrived. */
  #end(upTo: number, sentAt: number | null): void {
    this.#sql.exec("DELETE FROM mail_news WHERE eventId <= ?", upTo);
    this.#sql.exec("UPDATE mail_turn SET sentAt = ?, nextAt = NULL, triedAt = NULL, attempts = 0", sentAt);
    const select = "SELECT max(isUrgent) AS isUrgent FROM mail_news";
    const { isUrgent } = this.#sql.exec<{ isUrgent: number | null }>(select).one();
    if (isUrgent !== null) this.#setNextAt(mailAt({ isUrgent: isUrgent === 1, sentAt, now: Date.now() }));
  }

  #setNextAt(at: number): void {
    this.#sql.exec("UPDATE mail_turn SET nextAt = ?", at);
  }
}
