import type { ShownChannel } from "#domain/channels/channels";
import type { AffectedCounts } from "#model/advisory";
import type { Build } from "#storage/builds";
import type { CheckRun } from "#storage/check-runs";
import type { Uses } from "#storage/gallery-listings";
import type { Comment, Rating } from "#storage/gallery-opinions";
import type { Publication } from "#storage/publications";
import type { Person } from "../../factory.ts";

/** The content of the page. */
export interface Published {
  publication: Publication;
  /** The last published version first. */
  versions: readonly string[];
  /** The images of the version. Each person gets their own links. */
  images: readonly Build[];
  /** The channels of the appliance that have a version. */
  channels: readonly ShownChannel[];
  /** The run of checks that its images have passed. */
  proof: CheckRun | undefined;
  /** How many advisories concern its worst image. Undefined if that is unknown. */
  advisories: AffectedCounts | undefined;
  /** The title of its base system. */
  base: string;
  /** The service's URL, for the link that people share. */
  baseUrl: string;
  rating: Rating;
  uses: Uses | undefined;
  comments: readonly Comment[];
  person: Person | undefined;
  ownRating: number | undefined;
  /** The action that the person chose before signing in. */
  wanted: string | undefined;
}
