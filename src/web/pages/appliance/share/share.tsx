import type { Context } from "hono";
import { z } from "zod";
import { releaseNotesText } from "#documents/release-notes-text";
import { warningText } from "#documents/sharing";
import { spending } from "#domain/accounts/rates";
import type { Rated } from "#domain/accounts/default-rates";
import { sharingWarnings } from "#domain/appliances/sharing-warnings";
import { share, unshare } from "#domain/appliances/sharing";
import { draftReleaseNotes } from "#domain/difference/release-notes-draft";
import { withImages } from "#domain/channels/channels";
import { publish, unpublish } from "#domain/gallery/publish";
import { Refusal } from "#domain/refusal";
import { schematicOf } from "#domain/schematics/schematic";
import { compareVersions } from "#domain/version";
import { readSharing } from "#storage/shares";
import { factory, type WebEnv } from "../../../factory.ts";
import { auditedPage } from "../../../audited.ts";
import { Content } from "../../../parts/column.tsx";
import { submit } from "../../../submit.ts";
import { appliancePage, lookAtAppliance } from "../appliance-page.tsx";
import { applianceAt, applianceRoute, withOwnAppliance } from "../with-appliance.ts";
import { submitChannel } from "./channels.tsx";
import { takenBy } from "./taken.ts";
import { ShareView, type Shared } from "./view.tsx";

const route = `${applianceRoute}/share`;
const Reader = z.object({
  do: z.enum(["add", "remove"]),
  username: z.string({ error: "Enter the name of an account." }),
});
const Version = z.object({
  do: z.enum(["publish", "unpublish"]),
  version: z.string(),
  release_notes: z.string().optional(),
});

/** The page on which an appliance is shared with accounts, and published for everyone. */
export const sharePage = factory
  .createApp()
  .use(`${route}/*`, ...withOwnAppliance)
  .get(route, (c) => showShare(c))
  .post(`${route}/readers`, (c) =>
    submit(c, {
      fields: Reader,
      fieldOf: { invalid_username: "username" },
      again: showShare,
      act: async ({ do: what, username }) => {
        const { account, appliance } = c.var;
        const [event, act] =
          what === "add" ? (["appliance.shared", share] as const) : (["appliance.unshared", unshare] as const);
        const db = auditedPage(c, { event, detail: { appliance_id: appliance.id, username } });
        await act(db, account, { applianceId: appliance.id, username });
        const text = what === "add" ? `${username} can read and clone it now.` : `${username} can no longer read it.`;
        return { to: applianceAt(appliance.id, "share"), result: { text } };
      },
    }),
  )
  .post(`${route}/versions`, (c) =>
    submit(c, {
      fields: Version,
      rate: "publications",
      again: showShare,
      act: async ({ do: what, version, release_notes: releaseNotes = "" }, { requestId }) => {
        const { account, appliance, baseUrl } = c.var;
        const isPublished = what === "publish";
        const event = isPublished ? "version.published" : "version.unpublished";
        const services = { env: c.env, db: auditedPage(c, { event, detail: { appliance_id: appliance.id, version } }) };
        const of = { applianceId: appliance.id, version };
        if (isPublished) await publish(services, account, { ...of, releaseNotes, baseUrl, requestId });
        else await unpublish(services.db, account, of);
        const text = `${version} is ${isPublished ? "in the gallery now" : "no longer in the gallery"}.`;
        return { to: applianceAt(appliance.id, "share"), result: { text } };
      },
    }),
  )
  .post(`${route}/channels`, (c) => submitChannel(c, showShare));

async function showShare(c: Context<WebEnv>): Promise<Response> {
  const { db, account, appliance, baseUrl } = c.var;
  const [look, { images, files, keys, readers, published, channels }, schematic] = await Promise.all([
    lookAtAppliance(c),
    readSharing(db, appliance.id),
    schematicOf({ env: c.env, db }, appliance),
  ]);
  const publishable = [...new Set(images.map(({ version }) => version))]
    .filter((version) => !published.includes(version))
    .toSorted((one, other) => compareVersions(other, one));
  // A refused publication shows its version again, because the notes that were written are about it.
  const wanted = c.var.given?.values["version"]?.[0] ?? c.req.query("version");
  const chosen = publishable.find((version) => version === wanted) ?? publishable[0];
  const services = { env: c.env, db };
  // The reads count against the same limits as the API's calls for the same data.
  const rated = <T,>(what: Rated, read: () => Promise<T>) => spending(services, { accountId: account.id, what }, read);
  const warn = () => sharingWarnings(services, appliance, chosen, { images, files, template: look.rows.template });
  const [draft, warnings, shown] = await Promise.all([
    chosen === undefined ? "" : rated("reads", () => draftOf(c, chosen)),
    // Without images, the warnings need no expensive reads.
    images.length === 0 ? warn() : rated("differences", warn),
    withImages(db, appliance.id, channels),
  ]);
  const seen: Shared = {
    applianceId: appliance.id,
    readers,
    published,
    publishable,
    chosen,
    isChanged: images.some(({ version, createdAt }) => version === chosen && createdAt < appliance.lastEditedAt),
    draft,
    warnings,
    taken: takenBy(appliance, { files, keys }),
    channels: shown,
    schematic,
    baseUrl,
  };
  const content = (
    <Content look="stack">
      <ShareView seen={seen} texts={seen.warnings.warnings.map(warningText)} />
    </Content>
  );
  return await appliancePage(c, content, { tab: "share", title: "Share", seen: look });
}

/** Empty if no draft can be made. Then the person writes the notes. */
async function draftOf(c: Context<WebEnv>, version: string): Promise<string> {
  const { db, account, appliance } = c.var;
  try {
    return releaseNotesText(
      await draftReleaseNotes({ env: c.env, db }, account, { applianceId: appliance.id, version }),
    );
  } catch (error) {
    if (error instanceof Refusal) return "";
    throw error;
  }
}
