import type { Context } from "hono";
import { z } from "zod";
import { pathId } from "#http/params";
import { gpgKeyTooLarge, importGpgKey, readPublicKey, removeGpgKey } from "#domain/contents/gpg-key";
import { readWhole } from "#http/whole-body";
import type { GpgKey } from "#storage/gpg-keys";
import { factory, type WebEnv } from "../../../factory.ts";
import { Button } from "../../../parts/button.tsx";
import { Confirm } from "../../../parts/dialog.tsx";
import { Field, TextArea } from "../../../parts/field.tsx";
import { Form } from "../../../parts/form.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Empty, Panel } from "../../../parts/panel.tsx";
import { submit, type Done } from "../../../submit.ts";
import { sha256OfBytes, submitFiles } from "../../../submit-files.ts";
import { applianceAt, applianceRoute } from "../with-appliance.ts";

const route = `${applianceRoute}/configuration/keys`;
const Named = z.object({ name: z.string({ error: "Enter a name." }) });
const bytesOf = (text: string) => new TextEncoder().encode(text);
const Pasted = Named.extend({ key: z.string({ error: "Paste the key." }) });
/** The limit of an upload, which is larger than any valid key. The domain has the exact limit. */
const maxBytes = 1024 * 1024;
const fieldOf = { invalid_name: "name", invalid_key: "key", key_already_exists: "key" } as const;

type Again = (c: Context<WebEnv>) => Promise<Response>;

export const keyActions = (again: Again) =>
  factory
    .createApp()
    .post(route, (c) =>
      submit(c, {
        fields: Pasted,
        rate: "uploads",
        fieldOf,
        checks: ({ key }) => [() => key !== undefined && readPublicKey(bytesOf(key))],
        again,
        act: ({ name, key }, { requestId }) => add(c, { name, key: bytesOf(key), requestId }),
      }),
    )
    .post(`${route}/file`, (c) =>
      submitFiles(c, {
        form: "key-file",
        fields: Named,
        rate: "uploads",
        fieldOf: { ...fieldOf, invalid_key: "file", key_already_exists: "file" },
        noFile: "Choose the file of the key.",
        checks: (_given, [key]) => [() => key !== undefined && readPublicKey(key)],
        again,
        store: async ({ body }) => {
          const key = await readWhole(body, maxBytes);
          if (!key) throw gpgKeyTooLarge();
          return key;
        },
        sha256Of: sha256OfBytes,
        discard: async () => {}, // the file is in memory
        act: ({ name }, { files: [key], requestId }) => add(c, { name, key, requestId }),
      }),
    )
    .post(`${route}/:key{\\d+}/delete`, (c) =>
      submit(c, {
        again,
        act: async () => {
          const { db, appliance } = c.var;
          await removeGpgKey(db, appliance.id, pathId(c, "key", "invalid_gpg_key_id"));
          return { to: applianceAt(appliance.id, "configuration/keys"), result: { text: "The key is removed." } };
        },
      }),
    );

async function add(
  c: Context<WebEnv>,
  request: { name: string; key: Uint8Array; requestId: string | undefined },
): Promise<Done> {
  const { db, account, appliance } = c.var;
  const { name } = await importGpgKey(db, { id: appliance.id, accountId: account.id }, { ...request, target: "rpm" });
  const to = applianceAt(appliance.id, "configuration/keys");
  return { to, result: { text: `${name.slice(0, 255)} is added.` } };
}

/** The keys that builds import into the image's keyring. */
export const Keys = ({ keys, at }: { keys: readonly GpgKey[]; at: string }) => (
  <>
    <p class="quiet">Public keys. Builds import them into the image, whose package manager trusts what they sign.</p>
    <Panel id="key-list" title="Keys" count={keys.length} isFlush>
      {keys.length === 0 ? (
        <Empty title="No keys yet" isH3>
          <p>The repositories' own keys need not be added.</p>
        </Empty>
      ) : (
        <ul class="rows tight">
          {keys.map((key) => (
            <One of={key} at={at} />
          ))}
        </ul>
      )}
    </Panel>
    <Form action={at} id="new-key" class="panel stack" once>
      <h3>Paste a key</h3>
      <Field name="name" label="Name" />
      <TextArea name="key" label="Key" look="mono" also={{ rows: 6, spellcheck: "false" }} />
      <div class="row">
        <Button icon="plus">Add</Button>
      </div>
    </Form>
    <Form action={`${at}/file`} id="key-file" class="panel stack" once hasFile>
      <h3>Or from a file</h3>
      <Field name="name" label="Name" />
      <Field name="file" label="File" type="file" hint="As armoured text, or binary." />
      <div class="row">
        <Button icon="upload">Upload</Button>
      </div>
    </Form>
  </>
);

const One = ({ of: { id, name, fingerprint }, at }: { of: GpgKey; at: string }) => (
  <li>
    <div class="line">
      <Icon name="key-round" />
      <span class="grow breaks">
        {name}
        <br />
        <code class="quiet breaks">{fingerprint.replaceAll(/(.{4})(?=.)/g, "$1 ")}</code>
      </span>
      <Confirm
        id={`delete-key-${id}`}
        words="Remove"
        about={name}
        look="small plain danger"
        title={`Remove ${name}?`}
        action={`${at}/${id}/delete`}
        no="Keep it"
        yes="Remove the key"
      >
        Images that have it keep it.
      </Confirm>
    </div>
  </li>
);
