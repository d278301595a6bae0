import type { Account } from "#storage/accounts";
import type { Reachable, Token } from "#storage/tokens";
import { Button, CopyButton } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Choice, Field, TextArea } from "../../parts/field.tsx";
import { Form, useRefused } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Panel } from "../../parts/panel.tsx";
import { TokensPanel } from "./tokens-panel.tsx";

export const accountPath = "/account";
export const sshKeysPath = `${accountPath}/ssh_keys`;
export const mailPath = `${accountPath}/mail`;

/** A secret that is shown only in this answer. */
export interface ShownSecret {
  /** For example, “Laptop” is ready. */
  title: string;
  secret: string;
  about: string;
}

interface AccountViewProps {
  account: Account;
  baseUrl: string;
  apiKey: string;
  tokens: readonly Token[];
  reachable: readonly Reachable[];
  sshKeys: readonly string[];
  /** Whether the service sends mail. */
  sendsMail: boolean;
  fresh: ShownSecret | undefined;
  now: number;
}

export const AccountView = ({
  account,
  baseUrl,
  apiKey,
  tokens,
  reachable,
  sshKeys,
  sendsMail,
  fresh,
  now,
}: AccountViewProps) => (
  <>
    {fresh && <FreshSecret {...fresh} />}
    <TokensPanel tokens={tokens} reachable={reachable} now={now} />
    <KeyPanel username={account.username} apiKey={apiKey} baseUrl={baseUrl} />
    <SshKeysPanel keys={sshKeys} />
    <MailPanel account={account} sendsMail={sendsMail} />
    <PasswordPanel username={account.username} />
  </>
);

export const FreshSecret = ({ title, secret, about }: ShownSecret) => (
  <section class="notice" data-tone="good" role="status" aria-labelledby="fresh-title">
    <Icon name="key-round" />
    <div class="stack-s">
      <h2 class="as-h3" id="fresh-title">
        {title} Copy it now, it is not shown again.
      </h2>
      <p class="code token mono" id="fresh-secret">
        {secret}
      </p>
      <p class="row small-text">
        <CopyButton of="fresh-secret" words="Copy the secret" /> <span>{about}</span>
      </p>
    </div>
  </section>
);

const KeyPanel = ({ username, apiKey, baseUrl }: { username: string; apiKey: string; baseUrl: string }) => (
  <Panel id="key" title="API key" look="stack-s">
    <p class="small-text quiet">
      The one key of <strong>{username}</strong>, for clients of the old service. It can do everything.
    </p>
    <details>
      <summary>Show the key</summary>
      <p class="code token mono" id="api-key">
        {apiKey}
      </p>
    </details>
    <pre class="code wraps" tabindex={0}>
      <code id="curl-line">{`curl -u ${username}:KEY ${baseUrl}/api/v2/user/appliances`}</code>
    </pre>
    <div class="row">
      <CopyButton of="api-key" words="Copy the key" look="" />
      <Confirm
        id="renew-key"
        words="Renew"
        about="the API key"
        icon="refresh-cw"
        title="Renew the API key?"
        action={`${accountPath}/api_key`}
        no="Keep the key"
        yes="Renew the API key"
      >
        The old key stops working immediately, so every program that uses it needs the new one. Your other browsers are
        signed out.
      </Confirm>
    </div>
  </Panel>
);

const SshKeysPanel = ({ keys }: { keys: readonly string[] }) => (
  <Panel id="ssh-keys" title="SSH keys" look="stack-s">
    <Form action={sshKeysPath} class="stack-s" countsUnsaved>
      <TextArea
        name="ssh_keys"
        label="Public keys"
        hint="One per line: your .pub files. Appliances get them when you add them, under Users of the configuration or after cloning."
        value={keys.join("\n")}
        look="mono"
        also={{ rows: 3, spellcheck: "false" }}
      />
      <div class="row">
        <Button>Save the SSH keys</Button>
        <span class="sub">Appliances that have a key keep it.</span>
      </div>
    </Form>
  </Panel>
);

/** Omitted if the service sends no mail, unless mail is turned on for the account or the form was refused. */
const MailPanel = ({ account, sendsMail }: Pick<AccountViewProps, "account" | "sendsMail">) => {
  const { email, mailsAdvisories } = account;
  const isShown = useRefused(mailPath, undefined) || sendsMail || mailsAdvisories;
  return (
    <>
      {isShown && (
        <Panel id="mail" title="Email" look="stack-s">
          <Form action={mailPath} class="stack-s">
            <Choice name="advisories" value="true" isChecked={mailsAdvisories} isSwitch>
              Mail me advisories about my images
            </Choice>
            <div class="row">
              <Button>Save</Button>
              <span class="sub">
                To {email}: once a day at most, and within minutes if a vulnerability is known to be exploited.
              </span>
            </div>
          </Form>
        </Panel>
      )}
    </>
  );
};

const PasswordPanel = ({ username }: { username: string }) => (
  <Panel id="password" title="Password" look="stack-s">
    <Form action={`${accountPath}/password`} class="stack-s narrow-form">
      <input type="text" name="username" value={username} autocomplete="username" hidden readonly />
      <div class="fields">
        <Field
          name="password"
          label="Current password"
          type="password"
          also={{ autocomplete: "current-password" }}
          required
        />
        <Field
          name="new_password"
          label="New password"
          type="password"
          also={{ autocomplete: "new-password", minlength: 8, maxlength: 200 }}
          required
        />
      </div>
      <div class="row">
        <Button>Change the password</Button>
        <span class="sub">Your other browsers are signed out. The key and the tokens stay.</span>
      </div>
    </Form>
  </Panel>
);
