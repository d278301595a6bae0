import type { Context } from "hono";
import { z } from "zod";
import { pathId } from "#http/params";
import { spend } from "#domain/accounts/rates";
import { getOwnFile } from "#domain/contents/overlay-file";
import { addFile, discardContent, replaceFile, stageContent } from "#domain/contents/overlay-file-content";
import { parseMetadata, overlayPath } from "#domain/contents/overlay-file-metadata";
import { changedMeanwhile, Refusal } from "#domain/refusal";
import { discardOnRefusal } from "#domain/discard-on-refusal";
import type { OverlayFile } from "#storage/overlay-files";
import { factory, type WebEnv } from "../../../factory.ts";
import { Button, ButtonLink } from "../../../parts/button.tsx";
import { Content } from "../../../parts/column.tsx";
import { Field, TextArea } from "../../../parts/field.tsx";
import { Form, Hidden } from "../../../parts/form.tsx";
import { submit } from "../../../submit.ts";
import { appliancePage } from "../appliance-page.tsx";
import { applianceAt, applianceRoute } from "../with-appliance.ts";
import { checksOfFile, faultsOfFile } from "./faults.ts";
import { Whose } from "./whose.tsx";
import { textOf, withLineEnds } from "./content.ts";

const route = `${applianceRoute}/files/:file{\\d+}/text`;
const newRoute = `${applianceRoute}/files/new`;
const Edited = z.object({ sha256: z.string(), text: z.string().default("") });
const Written = z.object({
  place: z.string({ error: "Enter a place in the image." }).regex(/^\/.*[^/]$/, "Enter a path such as /etc/motd."),
  owner: z.string().optional(),
  group: z.string().optional(),
  permissions: z.string().optional(),
  text: z.string().default(""),
});

/** Creates and edits text files on a page. */
export const fileEditor = factory
  .createApp()
  .get(newRoute, (c) => showNew(c))
  .post(newRoute, (c) =>
    submit(c, {
      fields: Written,
      rate: "uploads",
      faultsOf: faultsOfFile("place"),
      checks: ({ place, ...given }) => checksOfFile({ ...given, ...placeIn(place) }),
      again: showNew,
      act: async ({ place, owner = "root", group = "root", permissions, text }, { requestId }) => {
        const given = { ...placeIn(place), owner, group };
        const metadata = parseMetadata({ ...given, ...(permissions !== undefined && { permissions }) }, undefined);
        const staged = await stage(c, { text });
        const to = { ...targetFor(c), requestId };
        const file = await discardOnRefusal(
          () => discardContent(to, staged),
          () => addFile(to, c.var.appliance.id, metadata, staged),
        );
        return { to: filesAt(c), result: { text: `${overlayPath(file)} is added.` } };
      },
    }),
  )
  .get(route, (c) => showText(c))
  .post(route, (c) =>
    submit(c, {
      fields: Edited,
      again: showText,
      act: async ({ sha256, text }) => {
        const { file, text: before } = await textAt(c);
        if (file.sha256 !== sha256) throw changedMeanwhile();
        await spend({ env: c.env, db: c.var.db }, c.var.account.id, "uploads");
        const staged = await stage(c, { text: withLineEnds(text, before), replaced: file });
        await discardOnRefusal(
          () => discardContent(targetFor(c), staged),
          () => replaceFile(targetFor(c), file, staged),
        );
        return { to: filesAt(c), result: { text: `${overlayPath(file)} is saved.` } };
      },
    }),
  );

/** The directory and the name of a file. */
function placeIn(place = ""): { path: string; filename: string } {
  const [, path = "/", filename = ""] = /^(.*\/)([^/]*)$/.exec(place) ?? [];
  return { path, filename };
}

export const filesAt = (c: Context<WebEnv>): string => applianceAt(c.var.appliance.id, "files");
export const targetFor = (c: Context<WebEnv>) => ({ env: c.env, db: c.var.db, accountId: c.var.account.id });

const stage = (c: Context<WebEnv>, { text, replaced }: { text: string; replaced?: OverlayFile }) =>
  stageContent(targetFor(c), { body: new Blob([text]).stream(), fileName: undefined }, { replaced });

/** The appliance's file with the id in the address. */
async function textAt(c: Context<WebEnv>): Promise<{ file: OverlayFile; text: string }> {
  const file = await getOwnFile(c.var.db, c.var.account.id, pathId(c, "file", "invalid_overlay_file_id"));
  if (file.applianceId !== c.var.appliance.id) throw new Refusal("invalid_overlay_file_id", { reason: "unknown" });
  const text = await textOf(c.env.BLOBS, file);
  if (text === undefined) {
    throw new Refusal("invalid_value", {
      reason: "unknown",
      message: `${overlayPath(file)} is not a text that you can change here. Download it, change it, and upload it again.`,
    });
  }
  return { file, text };
}

async function showText(c: Context<WebEnv>): Promise<Response> {
  const { file, text } = await textAt(c);
  const path = overlayPath(file);
  const content = (
    <Content>
      <Form action={applianceAt(c.var.appliance.id, `files/${file.id}/text`)} class="panel stack">
        <h2 class="breaks">{path}</h2>
        <Hidden fields={{ sha256: file.sha256 }} />
        <TextArea name="text" label="Text" isLabelHidden value={text} look="mono" also={editorAttributes} />
        <Buttons to={filesAt(c)} />
      </Form>
    </Content>
  );
  return await appliancePage(c, content, { tab: "files", title: path });
}

async function showNew(c: Context<WebEnv>): Promise<Response> {
  const content = (
    <Content>
      <Form action={applianceAt(c.var.appliance.id, "files/new")} class="panel stack" once>
        <h2>A new text file</h2>
        <Field
          name="place"
          label="Place in the image"
          look="mono"
          hint="New directories below the owner's home belong to the owner, others to root."
          also={{ placeholder: "/etc/motd" }}
        />
        <Whose />
        <TextArea name="text" label="Text" look="mono" also={editorAttributes} />
        <Buttons to={filesAt(c)} />
      </Form>
    </Content>
  );
  return await appliancePage(c, content, { tab: "files", title: "A new text file" });
}

const editorAttributes = { rows: 20, spellcheck: "false", wrap: "off" };

const Buttons = ({ to }: { to: string }) => (
  <div class="row">
    <Button look="primary" icon="check">
      Save
    </Button>
    <ButtonLink href={to} look="plain">
      Cancel
    </ButtonLink>
  </div>
);
