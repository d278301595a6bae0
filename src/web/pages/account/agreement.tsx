import { readParams } from "#http/params";
import { acceptAgreement, acceptedAt, agreementPath, getAgreement, type Agreement } from "#domain/accounts/agreement";
import { Refusal } from "#domain/refusal";
import { keyedHash, sameSecret } from "#domain/secrets";
import { refuseInReadOnlyMode } from "#domain/service-settings";
import { factory } from "../../factory.ts";
import { Column } from "../../parts/column.tsx";
import { exactTime } from "../../parts/words.ts";
import { page } from "../../page.tsx";
import { signIn } from "../../basic-sign-in.tsx";

const path = "/agreements/:baseSystem";

/** The page to read and accept the legal agreement of a base system. */
export const agreementPage = factory
  .createApp()
  .use(path, signIn)
  .get(path, async (c) => {
    const { db, account } = c.var;
    // Not compressed: other sites can make browsers send these credentials, and the page contains a token as well as
    // its own address (BREACH).
    c.header("Cache-Control", "no-store, no-transform");
    const agreement = await getAgreement(db, c.req.param("baseSystem"));
    const accepted = await acceptedAt(db, account.id, agreement);
    const formToken = await formTokenOf(c.env, account, agreement);
    const { title } = agreement;
    return await page(c, <AgreementView agreement={agreement} accepted={accepted} formToken={formToken} />, { title });
  })
  .post(path, async (c) => {
    const { db, account } = c.var;
    await refuseInReadOnlyMode({ env: c.env, db });
    const agreement = await getAgreement(db, c.req.param("baseSystem"));
    const { form_token: given = "" } = await readParams(c);
    if (!sameSecret(given, await formTokenOf(c.env, account, agreement))) {
      throw new Refusal("access_denied", { message: "This form has expired. Please read the agreement again." });
    }

    await acceptAgreement(db, account.id, agreement);

    const accepted = await acceptedAt(db, account.id, agreement);
    return await page(c, <AgreementView agreement={agreement} accepted={accepted} />, { title: "Agreement accepted" });
  });

/** Binds the form to the account and to the displayed text, so that an account accepts only the text that it saw. */
const formTokenOf = (secrets: Pick<Env, "API_KEY_PEPPER">, account: { id: number }, agreement: Agreement) =>
  keyedHash(secrets.API_KEY_PEPPER, `accept agreement ${account.id} ${agreement.baseSystem} ${agreement.sha256}`);

interface AgreementProps {
  agreement: Agreement;
  accepted: Date | undefined;
  formToken?: string;
}

const AgreementView = ({ agreement, accepted, formToken }: AgreementProps) => (
  <Column>
    <h1>{agreement.title}</h1>
    <p>
      To build or publish appliances on the base system <strong>{agreement.baseSystem}</strong>, you must accept this
      text.
    </p>
    {accepted && (
      <p role="status">
        You accepted it on <time datetime={accepted.toISOString()}>{exactTime(accepted)}</time>. You can build your
        appliances.
      </p>
    )}
    {paragraphsOf(agreement.text).map((paragraph) => (
      <p>{lines(paragraph)}</p>
    ))}
    {!accepted && (
      <form method="post" action={agreementPath(agreement.baseSystem)}>
        <input type="hidden" name="form_token" value={formToken} />
        <button class="button primary" type="submit">
          I have read and accept this
        </button>
      </form>
    )}
  </Column>
);

const paragraphsOf = (text: string): string[] =>
  text.split(/\r?\n\s*\n/).filter((paragraph) => paragraph.trim() !== "");

const lines = (paragraph: string) =>
  paragraph.split(/\r?\n/).flatMap((line, at) => (at === 0 ? [line] : [<br />, line]));
