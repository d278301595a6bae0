import { Refusal } from "#domain/refusal";
import { findAccount } from "#storage/accounts";
import type { Database } from "#storage/db";
import {
  listPublications,
  type GalleryFilter,
  type GalleryOrder,
  type GalleryTraits,
  type ListedPublication,
} from "#storage/gallery-list";

/** The appliances to list (compatibility.md, "Gallery"). */
export type GalleryQuery =
  | { kind: "latest" }
  | { kind: "popular" }
  | { kind: "username"; username: string }
  | { kind: "search"; term: string };

export interface GalleryPage {
  /** The number of entries on all pages. */
  total: number;
  pages: number;
  page: number;
  entries: ListedPublication[];
}

interface GalleryRequest {
  page: number;
  perPage: number;
  traits?: GalleryTraits;
  order?: GalleryOrder | undefined;
}

const maxPerPage = 100;

/** A page after the last one is empty. */
export async function listGallery(
  db: Database,
  query: GalleryQuery,
  { page, perPage: wanted, ...chosen }: GalleryRequest,
): Promise<GalleryPage> {
  const perPage = Math.min(wanted, maxPerPage);
  const filter = await filterOf(db, query);
  const { total, entries } = await listPublications(db, filter, {
    ...chosen,
    limit: perPage,
    offset: (page - 1) * perPage,
  });
  return { total, pages: Math.max(1, Math.ceil(total / perPage)), page, entries };
}

async function filterOf(db: Database, query: GalleryQuery): Promise<GalleryFilter> {
  if (query.kind === "search") return { kind: "search", words: wordsOf(query.term) };
  if (query.kind !== "username") return query;
  const account = await findAccount(db, query.username);
  if (!account) throw new Refusal("invalid_username");
  return { kind: "account", accountId: account.id };
}

const maxWords = 16;

/** The words of a search term. Words that are only punctuation are ignored. */
const wordsOf = (term: string): string[] =>
  term
    .replace(/[\u0000-\u001f\u007f]/g, " ")
    .toWellFormed()
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .slice(0, maxWords);
