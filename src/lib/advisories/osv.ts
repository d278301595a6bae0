import { z } from "zod";
import { FeedFault, gather, type Advisory, type SourceAdvisories } from "./advisory.ts";
import { parsed } from "./debian-tracker.ts";
import { jsonObjects } from "./json-values.ts";

const Event = z.object({ introduced: z.string().optional(), fixed: z.string().optional() });
/** The fields of an OSV entry (https://ossf.github.io/osv-schema/) that are used. */
const Entry = z.object({
  id: z.string().min(1),
  withdrawn: z.string().optional(),
  aliases: z.array(z.string()).optional(),
  upstream: z.array(z.string()).optional(),
  affected: z
    .array(
      z.object({
        package: z.object({ ecosystem: z.string(), name: z.string() }).optional(),
        ranges: z.array(z.object({ type: z.string(), events: z.array(Event) })).optional(),
      }),
    )
    .optional(),
});
type Entry = z.infer<typeof Entry>;

/** Reads entries of the Open Source Vulnerability format: one, an array of them, or one after the other. */
export async function* readOsv(
  chunks: AsyncIterable<string>,
  rest: () => Promise<void>,
): AsyncGenerator<SourceAdvisories> {
  const { first, all } = await withFirst(chunks);
  const found = new Map<string, SourceAdvisories>();
  for await (const { text } of jsonObjects(all, first === "[" ? 1 : 0, rest)) {
    const { data } = Entry.safeParse(parsed(text));
    if (!data) throw new FeedFault("An entry does not match the OSV format.");
    if (data.withdrawn === undefined) for (const one of groupsIn(data)) gather(found, one);
  }
  yield* found.values();
}

/** The first character that is not a space, and all chunks. */
async function withFirst(chunks: AsyncIterable<string>): Promise<{ first: string; all: AsyncIterable<string> }> {
  const reader = chunks[Symbol.asyncIterator]();
  const read: string[] = [];
  let first = "";
  while (first === "") {
    const { value, done } = await reader.next();
    if (done) break;
    read.push(value);
    first = value.trimStart().charAt(0);
  }
  const all = async function* () {
    yield* read;
    yield* { [Symbol.asyncIterator]: () => reader };
  };
  return { first, all: all() };
}

function groupsIn(entry: Entry): SourceAdvisories[] {
  const named = [entry.id, ...(entry.aliases ?? []), ...(entry.upstream ?? [])];
  const cves = [...new Set(named.filter((one) => one.startsWith("CVE-")))];
  const ids = cves.length === 0 ? [entry.id] : cves;
  // DEBIAN-CVE-2026-1 is CVE-2026-1 itself, so it is not an alias; DSA-6001-1 is one.
  const aliases = ids.some((id) => entry.id.endsWith(id)) ? {} : { aliases: [entry.id] };
  return (entry.affected ?? []).flatMap(({ package: of, ranges = [] }) => {
    if (!of) return [];
    const spans = ranges.filter(({ type }) => type === "ECOSYSTEM").flatMap(({ events }) => spansOf(events));
    const advisories = ids.flatMap((id) => spans.map((span): Advisory => ({ id, ...aliases, ...span })));
    return advisories.length === 0 ? [] : [{ source: of.name, release: of.ecosystem, advisories }];
  });
}

/** The affected versions: from each `introduced` to the next `fixed`. */
function spansOf(events: readonly z.infer<typeof Event>[]): Omit<Advisory, "id">[] {
  const spans: Omit<Advisory, "id">[] = [];
  let introduced: string | undefined;
  const from = () => (introduced === undefined || introduced === "0" ? {} : { introduced });
  for (const event of events) {
    if (event.introduced !== undefined) introduced = event.introduced;
    if (event.fixed !== undefined && introduced !== undefined) {
      spans.push({ state: "resolved", fixed: event.fixed, ...from() });
      introduced = undefined;
    }
  }
  return introduced === undefined ? spans : [...spans, { state: "open", ...from() }];
}
