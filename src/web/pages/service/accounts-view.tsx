import type { Account } from "#storage/accounts";
import { ActionButton, Button, ButtonLink, CopyButton } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Form } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Facts, Panel } from "../../parts/panel.tsx";
import { Bar, State } from "../../parts/state.tsx";
import { StoragePanel, type Disk } from "../../parts/storage.tsx";
import { Table } from "../../parts/table.tsx";
import { size } from "../../parts/words.ts";
import { accountsPath } from "./service-page.tsx";

/** A new account with its secrets, which are shown once. */
export interface NewAccount {
  account: Account;
  apiKey: string;
  password: string;
}

interface AccountsViewProps {
  accounts: readonly (Account & { usedBytes: number; quota: number })[];
  hasMore: boolean;
  fresh: NewAccount | undefined;
}

export const AccountsView = ({ accounts, hasMore, fresh }: AccountsViewProps) => (
  <>
    {fresh && <Fresh {...fresh} />}
    <Panel id="accounts" title="Accounts" isFlush>
      <Table
        labelledBy="accounts"
        columns={["Name", "Storage", { words: "Quota", isNumber: true }, "State", "Added"]}
        isCards
      >
        {accounts.map((account) => (
          <Row account={account} />
        ))}
      </Table>
    </Panel>
    {hasMore && (
      <nav class="row center" aria-label="Pages">
        <ButtonLink href={`${accountsPath}?after=${accounts.at(-1)?.id}`} icon="chevron-right">
          Next
        </ButtonLink>
      </nav>
    )}
    <Panel id="add" title="Add an account" look="stack-s">
      <Form action={accountsPath} id="new-account" class="stack-s" once>
        <div class="fields">
          <Field name="username" label="Name" also={{ maxlength: 64, autocapitalize: "none" }} required />
          <Field name="email" label="Email address" type="email" required />
          <Field name="displayName" label="Display name" hint="Empty: the name." also={{ maxlength: 100 }} />
        </div>
        <Button look="primary" icon="plus">
          Add the account
        </Button>
      </Form>
    </Panel>
  </>
);

const Row = ({ account }: { account: AccountsViewProps["accounts"][number] }) => {
  const { username, email, usedBytes, quota, createdAt } = account;
  return (
    <tr>
      <th scope="row">
        <a href={`${accountsPath}/${username}`}>{username}</a>
        <br />
        <span class="sub">{email}</span>
      </th>
      <td>
        <span class="cell-bar">
          <span class="num">{size(usedBytes)}</span>
          <Bar percent={quota === 0 ? 100 : (100 * usedBytes) / (quota * 1024 ** 3)} />
        </span>
      </td>
      <td class="num" data-label="Quota">
        {quota} GB
      </td>
      <td>
        <StateOf account={account} />
      </td>
      <td class="quiet" data-label="Added">
        <Moment at={createdAt} />
      </td>
    </tr>
  );
};

const StateOf = ({ account: { lockedAt, isOperator } }: { account: Account }) => {
  if (lockedAt)
    return (
      <State tone="bad" icon="lock">
        Locked
      </State>
    );
  return isOperator ? <State icon="wrench">Operator</State> : <State tone="good">Open</State>;
};

const Fresh = ({ account: { username }, apiKey, password }: NewAccount) => (
  <section class="notice" data-tone="good" role="status" aria-labelledby="fresh-title">
    <Icon name="key-round" />
    <div class="stack-s">
      <h2 class="as-h3" id="fresh-title">
        {username} is added. Copy the password and the key now, they are not shown again.
      </h2>
      <Facts
        of={[
          ["Password", <Secret id="fresh-password" secret={password} words="Copy the password" />],
          ["API key", <Secret id="fresh-key" secret={apiKey} words="Copy the key" />],
        ]}
      />
    </div>
  </section>
);

const Secret = ({ id, secret, words }: { id: string; secret: string; words: string }) => (
  <span class="row">
    <code class="breaks" id={id}>
      {secret}
    </code>
    <CopyButton of={id} words={words} />
  </span>
);

interface AccountViewProps {
  account: Account;
  disk: Disk;
  /** The default quota. */
  usualGb: string;
  /** Whether it is the operator's own account, which the page does not offer to lock or remove. */
  isSelf: boolean;
}

export const AccountView = ({ account, disk, usualGb, isSelf }: AccountViewProps) => (
  <>
    <Panel id="about" title={account.username} hint={<StateOf account={account} />}>
      <Facts
        of={[
          ["Display name", account.displayName],
          ["Email address", account.email],
          ["Added", <Moment at={account.createdAt} />],
          ["Locked", account.lockedAt && <Moment at={account.lockedAt} />],
        ]}
      />
    </Panel>
    <StoragePanel disk={disk} />
    <QuotaPanel account={account} usualGb={usualGb} />
    {!isSelf && <AccessPanel account={account} />}
  </>
);

const addressOf = ({ username }: Account): string => `${accountsPath}/${username}`;

const QuotaPanel = ({ account, usualGb }: { account: Account; usualGb: string }) => (
  <Panel id="quota" title="Quota" look="stack-s">
    <Form action={`${addressOf(account)}/quota`} class="stack-s">
      <Field
        name="gb"
        label="GB"
        hint={`Empty: ${usualGb} GB, as all accounts.`}
        value={account.quotaGb === null ? "" : String(account.quotaGb)}
        type="number"
        look="short num"
        also={{ min: 0, max: 1_000_000, step: "any" }}
      />
      <div class="row">
        <Button>Save the quota</Button>
      </div>
    </Form>
  </Panel>
);

const AccessPanel = ({ account }: { account: Account }) => {
  const { username, lockedAt, isOperator } = account;
  const at = addressOf(account);
  const [lockWords, lockFields] = lockedAt ? ["Unlock", { state: "open" }] : ["Lock", { state: "locked" }];
  return (
    <Panel id="access" title="Access" look="stack-s">
      <p class="small-text quiet">
        A locked account cannot sign in. Its builds and testdrives end; its images stay. An operator sees these pages.
      </p>
      <div class="row">
        <ActionButton action={`${at}/lock`} fields={lockFields} icon="lock">
          {lockWords} {username}
        </ActionButton>
        <ActionButton action={`${at}/role`} fields={{ role: isOperator ? "user" : "operator" }} icon="wrench">
          {isOperator ? "No longer an operator" : "Make an operator"}
        </ActionButton>
        <Confirm
          id="remove"
          words="Remove"
          about={username}
          title={`Remove ${username}?`}
          action={`${at}/remove`}
          no="Keep it"
          yes={`Remove ${username}`}
        >
          All appliances, images, files and published versions of {username} are removed. This cannot be undone.
        </Confirm>
      </div>
    </Panel>
  );
};
