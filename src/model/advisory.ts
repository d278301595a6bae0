/**
 * `debian`: the JSON of Debian's security tracker. `dsa`: the tracker's list of announcements. `osv`: entries of the Open Source Vulnerability format. `exploited`: CISA's
 * catalogue of vulnerabilities that are known to be exploited.
 */
export const advisoryFeeds = ["debian", "dsa", "osv", "exploited"] as const;
export type AdvisoryFeed = (typeof advisoryFeeds)[number];

/** Whether a feed has the affected versions. The other one only names advisories. */
export const hasVersions = (feed: AdvisoryFeed): boolean => feed !== "exploited";

/**
 * How an advisory concerns an image. `fixed`: an update fixes it. `open`: there is no fix yet. `undetermined`: the
 * distribution has not decided yet. `unimportant`: the distribution considers it harmless.
 */
export const affectedStates = ["fixed", "open", "undetermined", "unimportant"] as const;
export type AffectedState = (typeof affectedStates)[number];

/** How many advisories that concern an image have each state, and how many of the fixed ones are known to be exploited. */
export type AffectedCounts = Record<AffectedState | "exploited", number>;
