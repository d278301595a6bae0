import type { Context } from "hono";
import { z } from "zod";
import { dropPicture, pictureLimits, pictureTooLarge, replacePicture } from "#domain/contents/picture";
import { readWhole } from "#http/whole-body";
import type { Appliance } from "#storage/appliances";
import type { PictureKind } from "#storage/pictures";
import { factory, type WebEnv } from "../../../factory.ts";
import { ActionButton, Button } from "../../../parts/button.tsx";
import { Field } from "../../../parts/field.tsx";
import { Form } from "../../../parts/form.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { submit } from "../../../submit.ts";
import { sha256OfBytes, submitFiles } from "../../../submit-files.ts";
import { pictureAt, pictureOf } from "../pictures.ts";
import { applianceAt, applianceRoute } from "../with-appliance.ts";

const route = `${applianceRoute}/configuration/pictures/:kind{(?:logo|background)}`;
const Kind = z.enum(["logo", "background"]);
const kindOf = (c: Context<WebEnv>): PictureKind => Kind.parse(c.req.param("kind"));

const words: Readonly<Record<PictureKind, { title: string; about: string; blob: "logoBlob" | "backgroundBlob" }>> = {
  logo: { title: "Logo", about: "Stands for the appliance, here and in the gallery.", blob: "logoBlob" },
  background: { title: "Background", about: "Behind the menu of the boot loader.", blob: "backgroundBlob" },
};

type Again = (c: Context<WebEnv>) => Promise<Response>;

export const pictureActions = (again: Again) =>
  factory
    .createApp()
    .post(route, (c) => {
      const kind = kindOf(c);
      const { db, account, appliance } = c.var;
      return submitFiles(c, {
        form: kind,
        rate: "uploads",
        fieldOf: { invalid_value: "file" },
        noFile: "Choose a picture.",
        again,
        store: async ({ body }) => {
          const png = await readWhole(body, pictureLimits[kind].maxBytes);
          if (!png) throw pictureTooLarge(kind);
          return png;
        },
        sha256Of: sha256OfBytes,
        discard: async () => {}, // the file is in memory
        act: async (_fields, { files: [png] }) => {
          await replacePicture({ env: c.env, db }, { id: appliance.id, accountId: account.id }, { kind, png });
          return { to: picturesOf(appliance), result: { text: `The ${kind} is replaced.` } };
        },
      });
    })
    .post(`${route}/remove`, (c) =>
      submit(c, {
        again,
        act: async () => {
          const [kind, { db, account, appliance }] = [kindOf(c), c.var];
          await dropPicture({ db }, { id: appliance.id, accountId: account.id }, kind);
          return { to: picturesOf(appliance), result: { text: `The ${kind} is removed.` } };
        },
      }),
    );

const picturesOf = ({ id }: Pick<Appliance, "id">): string => applianceAt(id, "configuration/pictures");

/** A form for each picture, with the current picture. */
export const Pictures = ({ appliance, at }: { appliance: Appliance; at: string }) => (
  <>
    {Kind.options.map((kind) => (
      <One kind={kind} appliance={appliance} at={`${at}/${kind}`} />
    ))}
  </>
);

const One = ({ kind, appliance, at }: { kind: PictureKind; appliance: Appliance; at: string }) => {
  const { title, about, blob } = words[kind];
  const isOwn = appliance[blob] !== null;
  return (
    <Panel id={`${kind}-title`} title={title} hint={isOwn ? undefined : "Kiln's own"} look="stack">
      <div class="row">
        <img
          class="shown-picture"
          src={kind === "logo" ? pictureOf(appliance) : pictureAt(appliance, kind)}
          alt={`${title} now`}
          width="100"
          height="100"
        />
        <p class="quiet grow">{about}</p>
      </div>
      <Form action={at} id={kind} class="stack-s" once hasFile>
        <Field
          name="file"
          label="PNG file"
          type="file"
          hint={`At most ${pictureLimits[kind].words}.`}
          also={{ accept: "image/png" }}
        />
        <div class="row">
          <Button icon="upload" about={title}>
            Replace
          </Button>
        </div>
      </Form>
      {isOwn && (
        <ActionButton action={`${at}/remove`} look="small plain" icon="trash-2" about={`the ${kind}`}>
          Remove
        </ActionButton>
      )}
    </Panel>
  );
};
