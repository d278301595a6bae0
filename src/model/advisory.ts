/** `debian`: the JSON of Debian's security tracker. `osv`: entries of the Open Source Vulnerability format. */
export const advisoryFeeds = ["debian", "osv"] as const;
export type AdvisoryFeed = (typeof advisoryFeeds)[number];

/**
 * How an advisory concerns an image. `fixed`: an update fixes it. `open`: there is no fix yet. `undetermined`: the distribution
 * does not know yet. `unimportant`: it says that it does no harm.
 */
export const affectedStates = ["fixed", "open", "undetermined", "unimportant"] as const;
export type AffectedState = (typeof affectedStates)[number];

/** How many advisories that concern an image have each state. */
export type AffectedCounts = Record<AffectedState, number>;
