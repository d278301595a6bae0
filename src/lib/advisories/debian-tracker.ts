import { z } from "zod";
import { FeedFault, type Advisory, type SourceAdvisories } from "./advisory.ts";
import { jsonObjects } from "./json-values.ts";

/** The entry of Debian's security tracker for a CVE in a source package. */
const Entry = z.object({
  releases: z.record(
    z.string(),
    z.object({
      status: z.enum(["resolved", "open", "undetermined"]),
      fixed_version: z.string().optional(),
      urgency: z.string().optional(),
    }),
  ),
});

/** Reads the tracker's JSON: `{SOURCE: {CVE: {releases: {bookworm: {status, fixed_version, urgency}}}}}`. */
export async function* readDebianTracker(
  chunks: AsyncIterable<string>,
  rest: () => Promise<void>,
): AsyncGenerator<SourceAdvisories> {
  let source: string | undefined;
  let byRelease = new Map<string, Advisory[]>();
  const read = () => [...byRelease].map(([release, advisories]) => ({ source: source ?? "", release, advisories }));
  for await (const { keys, text } of jsonObjects(chunks, 2, rest)) {
    const [name = "", id = ""] = keys;
    if (name !== source) {
      yield* read();
      byRelease = new Map();
      source = name;
    }
    for (const [release, advisory] of advisoriesIn(id, text)) {
      const known = byRelease.get(release);
      if (known) known.push(advisory);
      else byRelease.set(release, [advisory]);
    }
  }
  yield* read();
}

function advisoriesIn(id: string, text: string): [string, Advisory][] {
  const { data } = Entry.safeParse(parsed(text));
  if (!data) throw new FeedFault(`${id} is not an entry of Debian's security tracker.`);
  return Object.entries(data.releases).flatMap(([release, { status: state, fixed_version: fixed, urgency }]) => {
    // The version 0 means that the release was never affected.
    if (state === "resolved" && (fixed === undefined || fixed === "0")) return [];
    const advisory = { id, state, ...(state === "resolved" && { fixed }), ...(urgency !== undefined && { urgency }) };
    return [[release, advisory] as [string, Advisory]];
  });
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new FeedFault("The text is not JSON.");
  }
}
