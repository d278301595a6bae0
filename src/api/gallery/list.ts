import { z } from "zod";
import { listGallery, type GalleryQuery } from "#domain/gallery/list";
import { Refusal } from "#domain/refusal";
import { factory } from "#api/factory";
import { parseParams, readQuery } from "#api/params";
import { xml } from "#api/respond";
import { galleryPageFields } from "#api/views/gallery";

/** More on a page than anybody reads. */
const mostPerPage = 100;

const count = z
  .string()
  .regex(/^0*[1-9]\d{0,8}$/, "invalid_value")
  .transform(Number);

/** `latest`, `popular` and `search` may stand there without a value, and with one that says nothing. */
export const GalleryRequest = z.object({
  latest: z.string().optional(),
  popular: z.string().optional(),
  username: z.string().optional(),
  search: z.string().optional(),
  query: z.string().optional(),
  page: count.default(1),
  per_page: count.default(10),
});

export const galleryList = factory.createApp().get("/gallery/appliances", async (c) => {
  const { page, per_page: perPage } = parseParams(GalleryRequest, readQuery(c));
  const query = galleryQueryOf(new URL(c.req.url).searchParams);

  const found = await listGallery(c.var.db, query, { page, perPage: Math.min(perPage, mostPerPage) });

  return xml(c, "gallery", galleryPageFields(found));
});

/** Every form that a client is known to send, and the one of the specification (wire.md §2.16). */
export function galleryQueryOf(given: URLSearchParams): GalleryQuery {
  const kind = given.get("query") || ["latest", "popular", "username", "search"].find((name) => given.has(name));
  const username = given.get("username") ?? "";
  const term = given.get("search") ?? "";
  if (kind === "latest" || kind === "popular") return { kind };
  if (kind === "username" && username !== "") return { kind, username };
  if (kind !== "search" || !given.has("search")) throw new Refusal("unknown_query");
  return term === "latest" || term === "popular" ? { kind: term } : { kind, term };
}
