import type { Services } from "#domain/services";
import type { Access } from "#domain/accounts/access";
import type { Credentials } from "#domain/accounts/sign-in-throttle";
import { logFailure } from "#log/log";
import type { AuditDetail, AuditEvent } from "#model/audit-events";
import {
  addAuditEntry,
  addAuditEntryOf,
  deleteAuditBefore,
  withAuditEntry,
  type NewAuditEntry,
} from "#storage/audit-log";
import type { Database } from "#storage/db";

/** An entry for the audit log. Its detail must not contain a secret. */
export interface Audited {
  event: AuditEvent;
  /** `page` is the page of the API key, which opens with the password or the key. */
  actor: "key" | "page" | "operator" | "service" | `token ${number}`;
  /** Omitted if the entry is about no account. */
  accountId?: number | undefined;
  detail?: AuditDetail | undefined;
  address?: string | null | undefined;
}

const minuteMs = 60_000;
const retentionMs = 90 * 24 * 60 * minuteMs;
const deletedAtOnce = 1000;

export const actorOf = (access: Access): Audited["actor"] => (access.by === "key" ? "key" : `token ${access.id}`);

/** The database for an action that is a single batch. Either both the action and its entry are stored, or neither. */
export const audited = (db: Database, what: Audited): Database => withAuditEntry(db, entryOf(what));

/** Records an action that is not a single batch. The action has already happened, so a failure is only logged. */
export async function note(db: Database, what: Audited): Promise<void> {
  await addAuditEntry(db, entryOf(what)).catch((error: unknown) =>
    logFailure("could not write an audit entry", error, { entry: what.event }),
  );
}

const entryOf = ({ accountId = 0, event, actor, detail = {}, address = null }: Audited): NewAuditEntry => ({
  ...now(),
  accountId,
  event,
  actor,
  detail,
  address,
});

/**
 * Writes at most one row per account and minute. Call it after the answer: it takes less time for an unknown name, and
 * the duration of the answer must not reveal that.
 */
export async function noteFailedSignIn(db: Database, { username, address }: Credentials): Promise<void> {
  const entry = { ...now(), event: "sign_in.failed", actor: "", detail: {}, address: address ?? null } as const;
  await addAuditEntryOf(db, username, entry).catch((error: unknown) =>
    logFailure("could not write a failed sign-in to the audit log", error),
  );
}

function now() {
  const at = Date.now();
  return { at: new Date(at), minute: Math.floor(at / minuteMs) };
}

/** A chore of the sweep: deletes old entries of the audit log. */
export async function forgetAuditLog({ db }: Pick<Services, "db">, now: number): Promise<void> {
  while ((await deleteAuditBefore(db, new Date(now - retentionMs), deletedAtOnce)) === deletedAtOnce);
}
