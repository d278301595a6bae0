import type { Context } from "hono";
import { pathId } from "#api/params";
import { differenceText } from "#documents/difference-text";
import { spend } from "#domain/accounts/rates";
import { buildDifference, compareFiles, findCompared } from "#domain/difference/builds";
import { findPublication, type Publication } from "#storage/publications";
import { notFoundPage } from "../../error-page.tsx";
import { factory, type WebEnv } from "../../factory.ts";
import { page } from "../../page.tsx";
import { Content } from "../../parts/column.tsx";
import { withSession } from "../../session.ts";
import { galleryRoute } from "./appliance.tsx";
import { galleryAt } from "./card.tsx";

const path = `${galleryRoute}/:version/difference/:before`;
const mostFiles = 200;

/** What differs between two published versions. Reading both costs much, so it is counted, and needs an account. */
export const galleryDifference = factory.createApp().get(path, withSession, (c) => showDifference(c));

async function showDifference(c: Context<WebEnv>): Promise<Response> {
  const { db, account } = c.var;
  const applianceId = pathId(c, "id", "invalid_appliance_id");
  const [to, from] = await Promise.all([
    findPublication(db, applianceId, c.req.param("version")),
    findPublication(db, applianceId, c.req.param("before")),
  ]);
  const ids = to && from && imagesOf(from, to);
  if (!ids) return await notFoundPage(c);
  await spend({ env: c.env, db }, account.id, "differences");
  const compared = await findCompared({ env: c.env, db }, account.id, ids);
  const files = await compareFiles(c.env, { ...compared, readerId: account.id }, { path: "/", limit: mostFiles });
  const text = differenceText(buildDifference(compared.from, compared.to), files, undefined);
  const title = `${to.name}: ${to.version} compared with ${from.version}`;
  return await page(c, <Difference title={title} text={text} to={to} />, { title, section: "gallery" });
}

/** Images of one type, if both versions have one. */
function imagesOf(from: Publication, to: Publication): { from: number; to: number } | undefined {
  const pairs = to.formats.flatMap((format) => {
    const before = from.formats.find(({ imageType }) => imageType === format.imageType);
    return before ? [{ from: before.buildId, to: format.buildId }] : [];
  });
  const [first, second] = [from.formats[0], to.formats[0]];
  return pairs[0] ?? (first && second && { from: first.buildId, to: second.buildId });
}

const Difference = ({ title, text, to }: { title: string; text: string; to: Publication }) => (
  <Content look="stack">
    <h1>{title}</h1>
    <p>
      <a href={galleryAt(to.applianceId, to.version)}>Back to {to.name}</a>
    </p>
    <pre class="panel" tabindex={0}>
      {text}
    </pre>
  </Content>
);
