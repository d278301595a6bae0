import { FeedFault, gather, type Advisory, type SourceAdvisories } from "./advisory.ts";

/** `[18 Aug 2026] DSA-6450-1 srt - security update`, and below it, indented, what it fixes. */
const header = /^\[[^\]]*\] ((?:DSA|DLA)-\d+(?:-\d+)?)\b/;
/** `{CVE-2026-55868 CVE-2026-55869}` */
const vulnerabilities = /^\s+\{([^}]*)\}/;
/** `[trixie] - srt 1.5.4-1+deb13u1`. Without a fix, `<end-of-life>` or the like is in place of the version. */
const fix = /^\s+\[([a-z]+)\] - (\S+)\s+([^\s<]\S*)/;

/** The longest line by far is that of a kernel's CVEs. */
const maxLine = 256 * 1024;

interface Announcement {
  id: string;
  cves: string[];
}

/** Reads the list of Debian's security announcements, `data/DSA/list` or `data/DLA/list` of the security tracker. */
export async function* readDebianAnnouncements(
  chunks: AsyncIterable<string>,
  rest: () => Promise<void>,
): AsyncGenerator<SourceAdvisories> {
  const found = new Map<string, SourceAdvisories>();
  let current: Announcement | undefined;
  for await (const line of linesOf(chunks, rest)) {
    const [, id] = header.exec(line) ?? [];
    if (!/^\s/.test(line)) current = id === undefined ? undefined : { id, cves: [] };
    if (!current) continue;
    const [, names] = vulnerabilities.exec(line) ?? [];
    if (names !== undefined) current.cves = names.split(/\s+/).filter((one) => one.startsWith("CVE-"));
    const [, release, source, fixed] = fix.exec(line) ?? [];
    if (release === undefined || source === undefined || fixed === undefined) continue;
    gather(found, { source, release, advisories: advisoriesOf(current, fixed) });
  }
  yield* found.values();
}

function advisoriesOf({ id, cves }: Announcement, fixed: string): Advisory[] {
  if (cves.length === 0) return [{ id, state: "resolved", fixed }];
  return cves.map((cve) => ({ id: cve, aliases: [id], state: "resolved", fixed }));
}

async function* linesOf(chunks: AsyncIterable<string>, rest: () => Promise<void>): AsyncGenerator<string> {
  let begun = "";
  for await (const chunk of chunks) {
    const lines = (begun + chunk).split("\n");
    begun = lines.pop() ?? "";
    if (begun.length > maxLine) throw new FeedFault("A line of the list is too long.");
    yield* lines;
    await rest();
  }
  yield begun;
}
