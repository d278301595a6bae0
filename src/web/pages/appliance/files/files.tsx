import type { Context } from "hono";
import { z } from "zod";
import { pathId } from "#http/params";
import { changeFile, deleteFile, getFile, getOwnFile } from "#domain/contents/overlay-file";
import {
  addFile,
  addWebFile,
  discardContent,
  stageContent,
  uploadTooLarge,
} from "#domain/contents/overlay-file-content";
import { parseChanges, parseMetadata, overlayPath } from "#domain/contents/overlay-file-metadata";
import { fileNameOf, parseWebAddress } from "#domain/contents/web-upload";
import { openerFor } from "#domain/operation/downloads";
import { readerOf } from "#http/client-address";
import { answerOverlayFile } from "#http/overlay-file";
import { listOverlayFiles } from "#storage/overlay-files";
import { factory, type WebEnv } from "../../../factory.ts";
import { Content } from "../../../parts/column.tsx";
import { withSession } from "../../../session.ts";
import { submit } from "../../../submit.ts";
import { submitFiles } from "../../../submit-files.ts";
import { appliancePage } from "../appliance-page.tsx";
import { applianceRoute, withOwnAppliance } from "../with-appliance.ts";
import { checksOfFile, faultsOfFile } from "./faults.ts";
import { fileEditor, filesAt, targetFor } from "./editor.tsx";
import { FilesView, maxFiles } from "./view.tsx";

const route = `${applianceRoute}/files`;
const FromWeb = z.object({ url: z.string({ error: "Enter an address." }), path: z.string().optional() });
const Uploaded = z.object({
  path: z.string().optional(),
  owner: z.string().optional(),
  group: z.string().optional(),
  permissions: z.string().optional(),
});
const Change = Uploaded.extend({
  do: z.enum(["change", "delete"]),
  filename: z.string().optional(),
  enabled: z.string().optional(),
});

/** The page of the files that builds copy into the image. */
export const filesPage = factory
  .createApp()
  .use(`${route}/*`, ...withOwnAppliance)
  .get(route, (c) => showFiles(c))
  .post(route, (c) => upload(c))
  .route("/", fileEditor)
  .post(`${route}/from_web`, (c) =>
    submit(c, {
      fields: FromWeb,
      fieldOf: { invalid_protocol: "url", download_error: "url", invalid_value: "url", missing_parameter: "url" },
      faultsOf: faultsOfFile(),
      checks: ({ url, path }) => [() => url !== undefined && parseWebAddress(url), ...checksOfFile({ path })],
      again: showFiles,
      act: async ({ url, path }, { requestId }) => {
        const address = parseWebAddress(url);
        const metadata = parseMetadata(path === undefined ? {} : { path }, fileNameOf(address));
        const file = await addWebFile({ ...targetFor(c), requestId }, c.var.appliance.id, metadata, address);
        return { to: filesAt(c), result: { text: `${overlayPath(file)} is added.` } };
      },
    }),
  )
  .post(`${route}/:file{\\d+}`, (c) =>
    submit(c, {
      fields: Change,
      faultsOf: faultsOfFile(),
      checks: checksOfFile,
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
          result: { text: `${overlayPath(file)} is ${what === "delete" ? "deleted" : "changed"}.` },
        };
      },
    }),
  )
  .get("/files/:file{\\d+}", withSession, async (c) => {
    const file = await getFile(c.var.db, c.var.account.id, pathId(c, "file", "invalid_overlay_file_id"));
    return await answerOverlayFile(openerFor(c.env, readerOf(c)), c.req.raw, file);
  });

const withoutGaps = (fields: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));

/** Adds the files of a form, which all get the same directory, owner and mode. */
function upload(c: Context<WebEnv>): Promise<Response> {
  const target = targetFor(c);
  return submitFiles(c, {
    form: "upload-file",
    maxFiles,
    fields: Uploaded,
    rate: "uploads",
    faultsOf: faultsOfFile(),
    checks: checksOfFile,
    noFile: "Choose a file.",
    again: showFiles,
    store: (file) => stageContent(target, file, { tooLarge: uploadTooLarge }),
    sha256Of: ({ sha256 }) => sha256,
    discard: (staged) => discardContent(target, staged),
    act: async (fields, { files, use }) => {
      const given = withoutGaps(fields);
      // Checks all files before it adds the first one.
      const wanted = files.map((staged) => ({ staged, metadata: parseMetadata(given, staged.sentName) }));
      for (const { staged, metadata } of wanted)
        await use(staged, () => addFile(target, c.var.appliance.id, metadata, staged));
      const names = wanted.map(({ metadata }) => overlayPath(metadata)).join(", ");
      const text = `${names.slice(0, 450)} ${files.length === 1 ? "is" : "are"} added.`;
      return { to: filesAt(c), result: { text } };
    },
  });
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
