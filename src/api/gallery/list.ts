import { z } from "zod";
import { galleryPage } from "#documents/gallery";
import { listGallery, type GalleryQuery } from "#domain/gallery/list";
import { Refusal } from "#domain/refusal";
import { v2 } from "#api/operation";
import { call } from "#api/call";
import { positive } from "#http/params";

/** `latest`, `popular` and `search` may have no value. For the first two, any value means the same. */
const GalleryRequest = z.object({
  latest: z.string().optional(),
  popular: z.string().optional(),
  username: z.string().optional(),
  search: z.string().optional(),
  query: z.string().optional(),
  page: positive.default(1),
  per_page: positive.default(10),
});

export const galleryList = call("GET /gallery/appliances", {
  name: "listGallery",
  access: "public",
  versions: v2,
  summary: "Published appliances: the latest, the popular, those of an account, or those that a search finds",
  details: "Send one of `latest`, `popular`, `username` and `search`. `query=latest` is the same as `latest`.",
  params: GalleryRequest,
  about: {
    query: "latest, popular, username or search, in place of the bare word.",
    username: "Name of the account whose appliances to list.",
  },
  answer: galleryPage,
  refuses: ["unknown_query", "invalid_username", "invalid_value"],
  act: ({ db }, { page, per_page: perPage }, c) =>
    listGallery(db, galleryQueryOf(new URL(c.req.url).searchParams), { page, perPage }),
});

/**
 * Accepts every form that clients are known to send, and the one in the specification (compatibility.md, "Gallery").
 */
function galleryQueryOf(given: URLSearchParams): GalleryQuery {
  const kind = given.get("query") || ["latest", "popular", "username", "search"].find((name) => given.has(name));
  const username = given.get("username") ?? "";
  const term = given.get("search") ?? "";
  if (kind === "latest" || kind === "popular") return { kind };
  if (kind === "username" && username !== "") return { kind, username };
  if (kind !== "search" || !given.has("search")) throw new Refusal("unknown_query");
  return term === "latest" || term === "popular" ? { kind: term } : { kind, term };
}
