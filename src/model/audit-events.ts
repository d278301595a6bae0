/** The events of the audit log. */
export const auditEvents = [
  "sign_in.failed",
  "key.renewed",
  "password.changed",
  "ssh_keys.changed",
  "mail.changed",
  "token.created",
  "token.revoked",
  "session.started",
  "session.revoked",
  "appliance.shared",
  "appliance.unshared",
  "version.published",
  "version.unpublished",
  "channel.changed",
  "channel.removed",
  "vex.stated",
  "vex.withdrawn",
  "account.created",
  "account.locked",
  "account.unlocked",
  "account.removed",
  "quota.changed",
  "operator.added",
  "operator.removed",
  "operator.called",
  "agent.registered",
  "agent.removed",
  "agent.drained",
  "agent.resumed",
  "agent.started",
  "agent.lost",
] as const;
export type AuditEvent = (typeof auditEvents)[number];

/** Details of an entry. Never a secret. */
export interface AuditDetail {
  appliance_id?: number;
  version?: string;
  channel?: string;
  advisory?: string;
  username?: string;
  token_id?: number;
  token_name?: string;
  session_id?: number;
  scope?: string;
  /** `50GB`, or `default`. */
  quota?: string;
  /** A call of the operator, such as `PUT /accounts/ada/lock`. */
  call?: string;
  agent?: string;
  /** The account that has acted as operator. */
  operator?: string;
}
