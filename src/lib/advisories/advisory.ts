import { z } from "zod";

/** What an advisory says about one source package in one release. */
const Advisory = z.object({
  /** `CVE-2026-1234`, or an id of the feed if there is no CVE. */
  id: z.string(),
  /** `resolved`: versions before `fixed` are affected. The others affect each version since `introduced`. */
  state: z.enum(["resolved", "open", "undetermined"]),
  fixed: z.string().optional(),
  /** The first version that is affected. Absent for all. */
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
