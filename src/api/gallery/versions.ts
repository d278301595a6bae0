import type { Context } from "hono";
import { getPublication } from "#domain/gallery/access";
import { changeReleaseNotes, publish, publishedVersions, unpublish } from "#domain/gallery/publish";
import { Refusal } from "#domain/refusal";
import { draftReleaseNotes } from "#domain/difference/release-notes-draft";
import type { Publication } from "#storage/publications";
import { XmlList } from "#wire/xml";
import { factory, type ApiEnv } from "#api/factory";
import { readRawText } from "#api/gallery/raw-text";
import { pathId } from "#api/params";
import { success, xml, xmlOrText } from "#api/respond";
import { releaseNotesText } from "#api/views/difference-text";
import { publicationFields, releaseNotesDraftFields } from "#api/views/gallery";

const path = "/gallery/appliances/:id/version/:version";

/** Published versions, and publishing them. */
export const galleryVersions = factory
  .createApp()
  .get("/gallery/appliances/:id", async (c) => {
    const wanted = { applianceId: applianceId(c) };
    return show(c, await getPublication(c.var.db, c.var.account.id, wanted));
  })
  .get("/gallery/appliances/:id/versions", async (c) => {
    const versions = await publishedVersions(c.var.db, c.var.account.id, applianceId(c));
    const list = new XmlList("version", versions, { count: versions.length });
    return xml(c, "gallery", { appliance: { versions: list } });
  })
  .all("/gallery/appliances/:id/version", () => {
    throw new Refusal("missing_version");
  })
  .get(path, async (c) => show(c, await getPublication(c.var.db, c.var.account.id, versionOf(c))))
  .get(`${path}/release_notes_draft`, async (c) => {
    const draft = await draftReleaseNotes({ env: c.env, db: c.var.db }, c.var.account, versionOf(c));
    const notes = releaseNotesText(draft);
    return xmlOrText(c, "gallery", { appliance: releaseNotesDraftFields(draft, notes) }, () => notes);
  })
  .post(path, async (c) => {
    const wanted = versionOf(c);
    const releaseNotes = await readRawText(c.req.raw);

    const place = { env: c.env, db: c.var.db };
    const { baseUrl, requestId } = c.var;
    const published = await publish(place, c.var.account, { ...wanted, releaseNotes, baseUrl, requestId });

    return show(c, published);
  })
  .put(path, async (c) => {
    const wanted = versionOf(c);
    const releaseNotes = await readRawText(c.req.raw);
    return show(c, await changeReleaseNotes(c.var.db, c.var.account, { ...wanted, releaseNotes }));
  })
  .delete(path, async (c) => {
    await unpublish(c.var.db, c.var.account, versionOf(c));
    return success(c);
  });

const applianceId = (c: Context<ApiEnv>) => pathId(c, "id", "invalid_appliance_id");

const versionOf = (c: Context<ApiEnv>) => ({ applianceId: applianceId(c), version: c.req.param("version") ?? "" });

const show = (c: Context<ApiEnv>, publication: Publication): Response =>
  xml(c, "gallery", { appliance: publicationFields(publication) });
