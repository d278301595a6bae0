import type { Scope } from "#model/scope";
import type { Reachable, Token } from "#storage/tokens";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Choice, Field, Select, Suggesting } from "../../parts/field.tsx";
import { Form, useRefused } from "../../parts/form.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Panel } from "../../parts/panel.tsx";
import { State } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { counted, exactTime } from "../../parts/words.ts";

export const tokensPath = "/account/tokens";

const dayMs = 24 * 60 * 60_000;
const soonMs = 7 * dayMs;

/** How long a token is valid. */
export const terms = { month: 30, year: 365, never: undefined } as const;

export const scopeWords: Record<Scope, string> = {
  read: "read",
  build: "read, change and build",
  publish: "read, change, build and publish",
};

const columns = ["Name", "Can", "Last used", "Expires", { words: "Revoke", isHidden: true }] as const;

interface TokensPanelProps {
  tokens: readonly Token[];
  reachable: readonly Reachable[];
  now: number;
}

export const TokensPanel = ({ tokens, reachable, now }: TokensPanelProps) => (
  <Panel id="tokens" title="Tokens" count={tokens.length} isFlush>
    {tokens.length === 0 ? (
      <p class="body quiet">
        A token is a key for one program. It can do less than the API key, and is revoked without it.
      </p>
    ) : (
      <Table labelledBy="tokens" columns={columns} isCards>
        {tokens.map((token) => (
          <Row token={token} only={reachable.find(({ id }) => id === token.applianceId)} now={now} />
        ))}
      </Table>
    )}
    <NewToken isOpen={tokens.length === 0} reachable={reachable} />
  </Panel>
);

const Row = ({
  token: { id, name, scope, applianceId, lastUsedAt, expiresAt },
  only,
  now,
}: {
  token: Token;
  only: Reachable | undefined;
  now: number;
}) => (
  <tr>
    <th scope="row">{name}</th>
    <td data-label="Can">
      {scopeWords[scope]}
      {applianceId !== null && (
        <>
          , only <a href={`/appliance/${applianceId}`}>{only?.name ?? `appliance ${applianceId}`}</a>
        </>
      )}
    </td>
    <td class="quiet" data-label="Last used">
      {lastUsedAt ? <Moment at={lastUsedAt} /> : "never"}
    </td>
    <td data-label="Expires">{expiresAt ? <Expiry at={expiresAt} now={now} /> : "never"}</td>
    <td class="actions">
      <Confirm
        id={`revoke-${id}`}
        words="Revoke"
        about={name}
        look="small danger"
        title={`Revoke ${name}?`}
        action={`${tokensPath}/${id}/revoke`}
        no="Keep it"
        yes={`Revoke ${name}`}
      >
        Programs that use it are refused from now on. This cannot be undone.
      </Confirm>
    </td>
  </tr>
);

const Expiry = ({ at, now }: { at: Date; now: number }) => {
  const left = at.getTime() - now;
  const words = left <= 0 ? "expired" : left < dayMs ? "today" : `in ${counted(Math.round(left / dayMs), "day")}`;
  const time = (
    <time datetime={at.toISOString()} title={exactTime(at)}>
      {words}
    </time>
  );
  return left < soonMs ? <State tone={left <= 0 ? "bad" : "warn"}>{time}</State> : time;
};

/** The id of the form. */
const newToken = "new-token";

/** Appliances may have the same name, so the number is there too. `applianceIn` reads it. */
const applianceWords = ({ id, name }: Reachable): string => `${name} (${id})`;

/** The number at the end of what was typed or chosen. */
export const applianceIn = (typed: string): number | undefined => {
  const number = /^(\d{1,15})$|\((\d{1,15})\)$/.exec(typed);
  return number ? Number(number[1] ?? number[2]) : undefined;
};

/** A browser shows a few at a time, and any other name can be typed. */
const maxSuggested = 50;

const NewToken = ({ isOpen, reachable }: { isOpen: boolean; reachable: readonly Reachable[] }) => (
  <details class="body" open={useRefused(tokensPath, newToken) || isOpen}>
    <summary>Create a token</summary>
    <Form action={tokensPath} id={newToken} class="stack-s push-top" once>
      <div class="fields">
        <Field name="name" label="Name" hint="The program that uses it." also={{ maxlength: 100 }} required />
        <Select
          name="term"
          label="Expires"
          value="month"
          options={[
            ["month", "in 30 days"],
            ["year", "in a year"],
            ["never", "never"],
          ]}
        />
        <Suggesting
          name="appliance"
          label="Only for the appliance"
          hint="Its name or its number. Empty: all of yours."
          suggestions={reachable.slice(0, maxSuggested).map(({ id, name }) => [applianceWords({ id, name }), ""])}
        />
      </div>
      <fieldset>
        <legend>It can</legend>
        <Choice type="radio" name="scope" value="read" isChecked>
          Read
        </Choice>
        <Choice type="radio" name="scope" value="build">
          Read, change appliances, build and testdrive
        </Choice>
        <Choice type="radio" name="scope" value="publish">
          All that, and publish and share
        </Choice>
      </fieldset>
      <Button look="primary">Create token</Button>
    </Form>
  </details>
);
