import type { Context } from "hono";
import { z } from "zod";
import { pathId } from "#api/params";
import { changeFile, deleteFile, getFile, getOwnFile } from "#domain/contents/overlay-file";
import {
  addFile,
  addWebFile,
  discardContent,
  stageContent,
  uploadTooLarge,
} from "#domain/contents/overlay-file-content";
import { parseChanges, parseMetadata, placeOf } from "#domain/contents/overlay-file-metadata";
import { fileNameOf, parseWebAddress } from "#domain/contents/web-upload";
import { spend } from "#domain/accounts/rates";
import { Refusal } from "#domain/refusal";
import { refuseInReadOnlyMode } from "#domain/service-settings";
import { orDiscard } from "#domain/staged";
import { answerOverlayFile } from "#http/overlay-file";
import { receiveUpload } from "#http/upload";
import { listOverlayFiles } from "#storage/overlay-files";
import { factory, type WebEnv } from "../../../factory.ts";
import { Content } from "../../../parts/column.tsx";
import { giveResult } from "../../../result.ts";
import { checkSentForm, withSession } from "../../../session.ts";
import { submit } from "../../../submit.ts";
import { appliancePage } from "../appliance-page.tsx";
import { applianceAt, applianceRoute, withOwnAppliance } from "../with-appliance.ts";
import { FilesView } from "./view.tsx";

const route = `${applianceRoute}/files`;
const FromWeb = z.object({ url: z.string({ error: "Enter an address." }), path: z.string().optional() });
const Change = z.object({
  do: z.enum(["change", "delete"]),
  filename: z.string().optional(),
  path: z.string().optional(),
  owner: z.string().optional(),
  group: z.string().optional(),
  permissions: z.string().optional(),
  enabled: z.string().optional(),
});

/** The page of the files that builds copy into the image. */
export const filesPage = factory
  .createApp()
  .use(route, ...withOwnAppliance)
  .use(`${route}/*`, ...withOwnAppliance)
  .get(route, (c) => showFiles(c))
  .post(route, (c) => uploadOrShowAgain(c))
  .post(`${route}/from_web`, (c) =>
    submit(c, {
      fields: FromWeb,
      fieldOf: { invalid_protocol: "url", download_error: "url" },
      again: showFiles,
      act: async ({ url, path }, { requestId }) => {
        const address = parseWebAddress(url);
        const metadata = parseMetadata(path === undefined ? {} : { path }, fileNameOf(address));
        const place = { env: c.env, db: c.var.db, accountId: c.var.account.id, requestId };
        const file = await addWebFile(place, c.var.appliance.id, metadata, address);
        return { to: filesAt(c), result: { text: `${placeOf(file)} is added.` } };
      },
    }),
  )
  .post(`${route}/:file{\\d+}`, (c) =>
    submit(c, {
      fields: Change,
      again: showFiles,
      act: async ({ do: what, enabled, ...change }) => {
        const { db, account } = c.var;
        const file = await getOwnFile(db, account.id, pathId(c, "file", "invalid_overlay_file_id"));
        if (what === "delete") await deleteFile(db, account.id, file.id);
        else
          await changeFile(
            db,
            account.id,
            file,
            parseChanges({ ...withoutGaps(change), enabled: String(enabled === "true") }),
          );
        return {
          to: filesAt(c),
          result: { text: `${placeOf(file)} is ${what === "delete" ? "deleted" : "changed"}.` },
        };
      },
    }),
  )
  .get("/files/:file{\\d+}", withSession, async (c) => {
    const file = await getFile(c.var.db, c.var.account.id, pathId(c, "file", "invalid_overlay_file_id"));
    return await answerOverlayFile(c.env.BLOBS, c.req.raw, file);
  });

const filesAt = (c: Context<WebEnv>): string => applianceAt(c.var.appliance.id, "files");

const withoutGaps = (fields: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));

/** Shows what is wrong with the file in its form, as `submit` does for other forms. */
async function uploadOrShowAgain(c: Context<WebEnv>): Promise<Response> {
  try {
    return await upload(c);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === "access_denied") throw error;
    c.set("given", { action: filesAt(c), form: "upload-file", values: {}, faults: {}, fault: error.message });
    return await showFiles(c);
  }
}

/** A form with a file is read while it arrives, so it has a way of its own; the token comes before the file. */
async function upload(c: Context<WebEnv>): Promise<Response> {
  const { db, account, appliance } = c.var;
  await refuseInReadOnlyMode(db);
  await spend({ env: c.env, db }, account.id, "uploads");
  const place = { env: c.env, db, accountId: account.id };
  const { fields, stored } = await receiveUpload(c.req.raw, {
    store: (file) => stageContent(place, file, { tooLarge: uploadTooLarge }),
    discard: (staged) => discardContent(place, staged),
  });
  const given = Object.fromEntries([...fields].filter(([, value]) => value !== ""));
  const added = await orDiscard(
    () => discardContent(place, stored),
    async () => {
      checkSentForm(c, given);
      if (!stored || stored.sentName === undefined || stored.sentName === "") {
        throw new Refusal("invalid_request", { message: "Choose a file." });
      }
      const { path, owner, group, permissions } = given;
      const metadata = parseMetadata(withoutGaps({ path, owner, group, permissions }), stored.sentName);
      return await addFile(place, appliance.id, metadata, stored);
    },
  );
  giveResult(c, { text: `${placeOf(added)} is added.`.slice(0, 500) });
  return c.redirect(filesAt(c), 303);
}

async function showFiles(c: Context<WebEnv>): Promise<Response> {
  const files = await listOverlayFiles(c.var.db, c.var.appliance.id);
  const content = (
    <Content>
      <FilesView applianceId={c.var.appliance.id} files={files} />
    </Content>
  );
  return await appliancePage(c, content, { tab: "files", title: "Files" });
}
