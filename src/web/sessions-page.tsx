import { audited } from "#domain/accounts/audit";
import { endSession, revokeSession } from "#domain/accounts/sessions";
import { refuseInReadOnlyMode } from "#domain/service-settings";
import { clientAddress } from "#http/client-address";
import { listSessions, type Session } from "#storage/sessions";
import { factory } from "./factory.ts";
import { Column } from "./layout.tsx";
import { page } from "./page.tsx";
import { checkForm, sessionSecret, signInPath, takeSession, withSession } from "./session.ts";

const path = "/account/sessions";
const title = "Signed-in browsers";

/** The browsers that the person is signed in with, and the way out. */
export const sessionsPage = factory
  .createApp()
  .use(path, withSession)
  .use(`${path}/*`, withSession)
  .use("/sign_out", withSession)
  .get(path, async (c) => {
    const { db, account, session, formToken } = c.var;
    const all = await listSessions(db, account.id, new Date());
    const content = <Sessions username={account.username} all={all} current={session.id} formToken={formToken} />;
    return await page(c, content, { title });
  })
  .post(`${path}/:id/revoke`, async (c) => {
    const { db, account } = c.var;
    await checkForm(c);
    // While data is being moved, the session could come back.
    await refuseInReadOnlyMode(db);
    const id = Number(c.req.param("id"));
    const address = clientAddress(c.req.raw, c.env);
    const what = { event: "session.revoked", actor: "page", accountId: account.id, address } as const;
    await revokeSession(audited(db, { ...what, detail: { session_id: id } }), account.id, id);
    return c.redirect(path, 303);
  })
  .post("/sign_out", async (c) => {
    await checkForm(c);
    await endSession(c.env, c.var.db, sessionSecret(c) ?? "");
    takeSession(c);
    return c.redirect(signInPath, 303);
  });

interface SessionsProps {
  username: string;
  all: Session[];
  current: number;
  formToken: string;
}

const Sessions = ({ username, all, current, formToken }: SessionsProps) => (
  <Column>
    <h1>{title}</h1>
    <p>
      You are signed in as <strong>{username}</strong>. If you do not know one of these browsers, sign it out and change
      your password.
    </p>
    <table>
      <thead>
        <tr>
          <th scope="col">Browser</th>
          <th scope="col">Signed in</th>
          <th scope="col">Last used</th>
          <th scope="col">
            <span class="hidden">Sign out</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {all.map((session) => (
          <Row session={session} isCurrent={session.id === current} formToken={formToken} />
        ))}
      </tbody>
    </table>
  </Column>
);

const Row = ({ session, isCurrent, formToken }: { session: Session; isCurrent: boolean; formToken: string }) => (
  <tr>
    <th scope="row">
      {session.browser}
      {session.network && <span class="quiet"> from {session.network}</span>}
    </th>
    <td>
      <Moment at={session.createdAt} />
    </td>
    <td>{isCurrent ? "now, this browser" : <Moment at={session.lastUsedAt} />}</td>
    <td>
      <form method="post" action={isCurrent ? "/sign_out" : `${path}/${session.id}/revoke`}>
        <input type="hidden" name="form_token" value={formToken} />
        <button class="button danger" type="submit">
          Sign out<span class="hidden"> {session.browser}</span>
        </button>
      </form>
    </td>
  </tr>
);

const Moment = ({ at }: { at: Date }) => (
  <time datetime={at.toISOString()}>{`${at.toISOString().slice(0, 16).replace("T", " ")} UTC`}</time>
);
