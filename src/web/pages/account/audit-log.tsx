import { z } from "zod";
import { id } from "#http/params";
import type { AuditDetail, AuditEvent } from "#model/audit-events";
import { listAuditLog, type AuditEntry } from "#storage/audit-log";
import { factory } from "../../factory.ts";
import { ButtonLink } from "../../parts/button.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Empty, Panel } from "../../parts/panel.tsx";
import { Table } from "../../parts/table.tsx";
import { accountPage } from "./account-page.tsx";

const path = "/account/audit_log";
const perPage = 50;
const Asked = z.object({ before: id("invalid_value").optional() });

/** The account's audit log. `accountPages` requires the session. */
export const auditLogPage = factory.createApp().get(path, async (c) => {
  const before = Asked.safeParse(c.req.query()).data?.before;
  // Reads one more than the page shows, to know whether there is another page.
  const found = await listAuditLog(c.var.db, { accountId: c.var.account.id, before, limit: perPage + 1 });
  const content = <AuditLog entries={found.slice(0, perPage)} hasMore={found.length > perPage} isFirst={!before} />;
  return await accountPage(c, content, { title: "What was done with your account", tab: path });
});

interface AuditLogProps {
  entries: readonly AuditEntry[];
  hasMore: boolean;
  isFirst: boolean;
}

const AuditLog = ({ entries, hasMore, isFirst }: AuditLogProps) => (
  <>
    <p class="quiet">The last 90 days, the latest first. If you do not know one of these, renew the API key.</p>
    {entries.length === 0 ? (
      <Empty title="Nothing is left here">
        <p>Sign-ins, keys, tokens and what you share appear here.</p>
      </Empty>
    ) : (
      <Panel id="entries" title="Entries" isFlush>
        <Table labelledBy="entries" columns={["What", "By", "From", "When"]} isCards>
          {entries.map((entry) => (
            <Row entry={entry} />
          ))}
        </Table>
      </Panel>
    )}
    <nav class="row center" aria-label="Pages">
      {!isFirst && <ButtonLink href={path}>Latest</ButtonLink>}
      {hasMore && (
        <ButtonLink href={`${path}?before=${entries.at(-1)?.id}`} icon="chevron-right">
          Earlier
        </ButtonLink>
      )}
    </nav>
  </>
);

const Row = ({ entry: { event, actor, detail, address, at, count } }: { entry: AuditEntry }) => (
  <tr>
    <th scope="row">
      {sentences[event](detail)}
      {count > 1 && <span class="quiet">, {count} times</span>}
    </th>
    <td class="quiet" data-label="by">
      {byWhom(actor)}
    </td>
    <td class="quiet mono" data-label="from">
      {address}
    </td>
    <td class="quiet">
      <Moment at={at} />
    </td>
  </tr>
);

const actors: Readonly<Record<string, string>> = {
  key: "API key",
  page: "a browser",
  operator: "the operator",
  service: "the service",
};
const byWhom = (actor: string): string => actors[actor] ?? actor;

const ofVersion = ({ appliance_id: appliance, version }: AuditDetail) => `${version ?? ""} of appliance ${appliance}`;
const tokenOf = ({ token_name: name, token_id: token }: AuditDetail) => name ?? `token ${token}`;

/** Events that are not about an account are only for the operator. */
const sentences: Record<AuditEvent, (detail: AuditDetail) => string> = {
  "sign_in.failed": () => "Someone failed to sign in",
  "key.renewed": () => "The API key was renewed",
  "password.changed": () => "The password was changed",
  "ssh_keys.changed": () => "The SSH keys were changed",
  "mail.changed": () => "Mail about advisories was turned on or off",
  "token.created": (detail) => `The token ${tokenOf(detail)} was created`,
  "token.revoked": (detail) => `The token ${tokenOf(detail)} was revoked`,
  "session.started": () => "A browser signed in",
  "session.revoked": ({ session_id: session }) =>
    session === undefined ? "All browsers were signed out" : "A browser was signed out",
  "appliance.shared": ({ appliance_id: appliance, username }) => `Appliance ${appliance} was shared with ${username}`,
  "appliance.unshared": ({ appliance_id: appliance, username }) =>
    `Appliance ${appliance} is no longer shared with ${username}`,
  "version.published": (detail) => `Version ${ofVersion(detail)} was published`,
  "version.unpublished": (detail) => `Version ${ofVersion(detail)} left the gallery`,
  "channel.changed": ({ channel, version, appliance_id: appliance }) =>
    version === undefined
      ? `The channel ${channel} of appliance ${appliance} was changed`
      : `The channel ${channel} of appliance ${appliance} was moved to ${version}`,
  "channel.removed": ({ channel, appliance_id: appliance }) =>
    `The channel ${channel} of appliance ${appliance} was removed`,
  "vex.stated": ({ advisory, appliance_id: appliance }) =>
    `A statement about ${advisory} in images of appliance ${appliance} was made`,
  "vex.withdrawn": ({ advisory, appliance_id: appliance }) =>
    `A statement about ${advisory} in images of appliance ${appliance} was withdrawn`,
  "account.created": () => "The account was created",
  "account.locked": () => "The account was locked",
  "account.unlocked": () => "The account was unlocked",
  "account.removed": () => "The account was removed",
  "quota.changed": ({ quota }) => `The disk quota was changed to ${quota}`,
  "operator.added": () => "The account may operate the service",
  "operator.removed": () => "The account may no longer operate the service",
  "operator.called": ({ call }) => `The operator called ${call}`,
  "agent.registered": ({ agent }) => `The agent ${agent} was registered`,
  "agent.removed": ({ agent }) => `The agent ${agent} was removed`,
  "agent.drained": ({ agent }) => `The agent ${agent} gets no new work`,
  "agent.resumed": ({ agent }) => `The agent ${agent} gets work again`,
  "agent.started": ({ agent }) => `The agent ${agent} started`,
  "agent.lost": ({ agent }) => `The agent ${agent} was lost`,
};
