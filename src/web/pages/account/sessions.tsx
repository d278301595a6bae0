import type { Context } from "hono";
import { endSession, revokeSession } from "#domain/accounts/sessions";
import { listSessions, type Session } from "#storage/sessions";
import { auditedPage } from "../../audited.ts";
import { factory, type WebEnv } from "../../factory.ts";
import { ActionButton } from "../../parts/button.tsx";
import { Moment } from "../../parts/moment.tsx";
import { submit } from "../../submit.ts";
import { Table } from "../../parts/table.tsx";
import { accountPage } from "./account-page.tsx";
import { checkForm, sessionSecret, signInPath, takeSession, withSession } from "../../session.ts";

const path = "/account/sessions";
const title = "Signed-in browsers";

/** The browsers in which the person is signed in, and signing out. */
export const sessionsPage = factory
  .createApp()
  .use(`${path}/*`, withSession)
  .use("/sign_out", withSession)
  .get(path, (c) => show(c))
  .post(`${path}/:id/revoke`, (c) =>
    submit(c, {
      again: show,
      act: async () => {
        const id = Number(c.req.param("id"));
        const db = auditedPage(c, { event: "session.revoked", detail: { session_id: id } });
        await revokeSession(db, c.var.account.id, id);
        return { to: path, result: { text: "The browser is signed out." } };
      },
    }),
  )
  .post("/sign_out", async (c) => {
    await checkForm(c);
    await endSession({ env: c.env, db: c.var.db }, sessionSecret(c) ?? "");
    takeSession(c);
    return c.redirect(signInPath, 303);
  });

async function show(c: Context<WebEnv>): Promise<Response> {
  const { db, account, session } = c.var;
  const all = await listSessions(db, account.id, new Date());
  const content = <Sessions username={account.username} all={all} current={session.id} />;
  return await accountPage(c, content, { title, tab: path });
}

interface SessionsProps {
  username: string;
  all: Session[];
  current: number;
}

const Sessions = ({ username, all, current }: SessionsProps) => (
  <>
    <p>
      You are signed in as <strong>{username}</strong>. If you do not know one of these browsers, sign it out and change
      your password.
    </p>
    <div class="panel flush">
      <Table
        label={title}
        columns={["Browser", "Signed in", "Last used", { words: "Sign out", isHidden: true }]}
        isCards
      >
        {all.map((session) => (
          <Row session={session} isCurrent={session.id === current} />
        ))}
      </Table>
    </div>
  </>
);

const Row = ({ session, isCurrent }: { session: Session; isCurrent: boolean }) => (
  <tr>
    <th scope="row">
      {session.browser}
      {session.network && <span class="quiet"> from {session.network}</span>}
    </th>
    <td data-label="Signed in">
      <Moment at={session.createdAt} />
    </td>
    <td data-label="Last used">{isCurrent ? "now, this browser" : <Moment at={session.lastUsedAt} />}</td>
    <td class="actions">
      <ActionButton
        action={isCurrent ? "/sign_out" : `${path}/${session.id}/revoke`}
        look="small danger"
        about={session.browser}
      >
        Sign out
      </ActionButton>
    </td>
  </tr>
);
