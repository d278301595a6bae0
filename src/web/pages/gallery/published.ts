import type { Build } from "#storage/builds";
import type { Uses } from "#storage/gallery-listings";
import type { Comment, Rating } from "#storage/gallery-opinions";
import type { Publication } from "#storage/publications";
import type { Person } from "../../factory.ts";

/** What the page shows. */
export interface Published {
  publication: Publication;
  /** The last first. */
  versions: readonly string[];
  /** The images of the version. Their links are the person's own. */
  images: readonly Build[];
  /** Of the service, for the link that people share. */
  baseUrl: string;
  rating: Rating;
  uses: Uses | undefined;
  comments: readonly Comment[];
  person: Person | undefined;
  ownRating: number | undefined;
  /** What the person wanted to do before signing in. */
  wanted: string | undefined;
}
