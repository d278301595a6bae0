import type { Context } from "hono";
import { pathId } from "#http/params";
import { findPublication, type Publication } from "#storage/publications";
import { notFoundPage } from "../../error-page.tsx";
import { factory, type WebEnv } from "../../factory.ts";
import { page } from "../../page.tsx";
import { Content } from "../../parts/column.tsx";
import { withSession } from "../../session.ts";
import { galleryRoute } from "./appliance.tsx";
import { galleryAt } from "./card.tsx";
import { compare, type Compared } from "../compared.ts";
import { DifferenceView } from "../difference-view.tsx";

const path = `${galleryRoute}/:version/difference/:before`;

/** The differences between two published versions. The page needs an account. */
export const galleryDifference = factory.createApp().get(path, withSession, (c) => showDifference(c));

async function showDifference(c: Context<WebEnv>): Promise<Response> {
  const { db } = c.var;
  const applianceId = pathId(c, "id", "invalid_appliance_id");
  const [to, from] = await Promise.all([
    findPublication(db, applianceId, c.req.param("version")),
    findPublication(db, applianceId, c.req.param("before")),
  ]);
  const ids = to && from && imagesOf(from, to);
  if (!ids) return await notFoundPage(c);
  const compared = await compare(c, ids);
  const title = `${to.name}: ${to.version} compared with ${from.version}`;
  return await page(c, <Difference title={title} compared={compared} to={to} />, { title, section: "gallery" });
}

/** Images of the same type, if both versions have one. */
function imagesOf(from: Publication, to: Publication): { from: number; to: number } | undefined {
  const pairs = to.formats.flatMap((format) => {
    const before = from.formats.find(({ imageType }) => imageType === format.imageType);
    return before ? [{ from: before.buildId, to: format.buildId }] : [];
  });
  const [first, second] = [from.formats[0], to.formats[0]];
  return pairs[0] ?? (first && second && { from: first.buildId, to: second.buildId });
}

const Difference = ({ title, compared, to }: { title: string; compared: Compared; to: Publication }) => (
  <Content look="stack">
    <h1>{title}</h1>
    <p>
      <a href={galleryAt(to.applianceId, to.version)}>Back to {to.name}</a>
    </p>
    <DifferenceView compared={compared} />
  </Content>
);
