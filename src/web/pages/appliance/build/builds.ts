import type { Build } from "#storage/builds";

/** What the page shows below the head. */
export interface Builds {
  applianceId: number;
  /** Over, newest first. */
  over: readonly Build[];
  baseUrl: string;
}
