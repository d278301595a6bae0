import { z } from "zod";

/** An advisory's statement about one source package in one release. */
const Advisory = z.object({
  /** `CVE-2026-1234`, or an id of the feed if there is no CVE. */
  id: z.string(),
  /** The distribution's announcements of its fix: `DSA-6001-1`. */
  aliases: z.array(z.string()).optional(),
  /** `resolved`: versions before `fixed` are affected. The others affect each version since `introduced`. */
  state: z.enum(["resolved", "open", "undetermined"]),
  fixed: z.string().optional(),
  /** The first version that is affected. Absent if all versions are. */
  introduced: z.string().optional(),
  /** As the feed words it: `unimportant`, `low`. */
  urgency: z.string().optional(),
});
export type Advisory = z.infer<typeof Advisory>;

/** All advisories about a source package in a release, as the feed names it: `bookworm`, `Debian:12`. */
export interface SourceAdvisories {
  source: string;
  release: string;
  advisories: Advisory[];
}

/** Adds advisories to those that a feed has about the same source package in the same release. */
export function gather(found: Map<string, SourceAdvisories>, { source, release, advisories }: SourceAdvisories): void {
  const key = `${release} ${source}`;
  const known = found.get(key);
  if (known) known.advisories.push(...advisories);
  else found.set(key, { source, release, advisories });
}

/** The text of a feed is not in its format, or one of its values is larger than any that is expected. */
export class FeedFault extends Error {}
