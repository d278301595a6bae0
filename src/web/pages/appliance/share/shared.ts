import type { SharingWarnings } from "#domain/appliances/sharing-warnings";

/** What the page shows below the head. */
export interface Shared {
  applianceId: number;
  readers: readonly string[];
  published: readonly string[];
  /** Built, with an image, and not published; the newest first. */
  publishable: readonly string[];
  chosen: string | undefined;
  draft: string;
  warnings: SharingWarnings;
}
