import { hasAccess, type InheritedAccess, type ReplacedAccess } from "#domain/appliances/inherited-access";
import { overlayPath } from "#domain/contents/overlay-file-metadata";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/field.tsx";
import { FaultsOf, Form } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Facts, Panel } from "../../parts/panel.tsx";
import { counted } from "../../parts/words.ts";
import { applianceAt } from "./with-appliance.ts";

interface InheritedProps {
  applianceId: number;
  access: InheritedAccess;
  /** How many SSH keys the account has stored. */
  ownKeys: number;
}

/**
 * The inherited passwords and SSH keys that would let others log in to a clone, and a button that replaces them all.
 */
export const Inherited = ({ applianceId, access, ownKeys }: InheritedProps) => {
  const action = applianceAt(applianceId, "access");
  if (!hasAccess(access)) return <FaultsOf action={action} />;
  return (
    <Panel id="inherited" title="Passwords and keys of others" look="stack-s">
      <p>These came along with the clone. Until you replace them, others may be able to log in to its machines.</p>
      <Facts
        of={[
          [
            "Users",
            access.users.length > 0 && `${access.users.join(", ")}: with the template's password, which everyone knows`,
          ],
          ["SSH keys", access.keyFiles.length > 0 && <KeyFiles of={access.keyFiles.map(overlayPath)} />],
        ]}
      />
      <Form action={action} id="replace-access" class="stack-s" once>
        {ownKeys > 0 ? (
          <Choice name="keys" value="add" isChecked>
            Let my {counted(ownKeys, "SSH key")} in instead
          </Choice>
        ) : (
          <p class="small-text quiet">
            Store your SSH keys in <a href="/account#ssh-keys">your account</a> first, to let them in instead.
          </p>
        )}
        <div class="row">
          <Button icon="key-round">Replace passwords and keys</Button>
          <span class="sub">
            Each user gets a new password{access.keyFiles.length > 0 && ", and these files are removed"}.
          </span>
        </div>
      </Form>
    </Panel>
  );
};

const KeyFiles = ({ of: paths }: { of: readonly string[] }) => (
  <ul>
    {paths.map((path) => (
      <li class="mono breaks">{path}</li>
    ))}
  </ul>
);

/** The access that was replaced, with the new passwords. */
export const Replaced = ({ replaced: { passwords, removedFiles, keyUsers } }: { replaced: ReplacedAccess }) => (
  <section class="notice" data-tone="good" role="status" aria-labelledby="replaced-title">
    <Icon name="key-round" />
    <div class="stack-s grow">
      <h2 class="as-h3" id="replaced-title">
        {passwords.length > 0 ? "Copy the new passwords now, they are not shown again." : "The files are removed."}
      </h2>
      {passwords.length > 0 && (
        <Facts of={passwords.map(({ user, password }) => [user, <code class="breaks">{password}</code>] as const)} />
      )}
      {removedFiles.length > 0 && <p class="breaks">Removed: {removedFiles.join(", ")}.</p>}
      {keyUsers.length > 0 && <p class="breaks">Your SSH keys let you in as {keyUsers.join(", ")}.</p>}
      <p class="small-text">The next build has them. Images that were built before keep the old ones.</p>
    </div>
  </section>
);
