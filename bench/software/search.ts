import { type Figure, verdict } from "../figure.ts";
import { median, spread } from "../statistics.ts";
import type { Bench } from "./bench.ts";
import type { ApplianceClient } from "./client.ts";
import type { Timed } from "./zypper.ts";

/** Searches with few to thousands of hits. A text of two letters cannot use an index of trigrams. */
const texts = ["openssh", "nginx", "postgresql", "libreoffice", "django", "editor", "qt", "python"];
const runs = { ours: 10, theirs: 3 };
/** The service shows at most this many hits. An answer of this length is not compared. */
const maxHits = 1000;

/** Searches all repositories repeatedly for each text. */
export async function measureSearch({ say, zypper }: Bench, client: ApplianceClient): Promise<Figure> {
  const [ours, theirs, ratios]: [number[], number[], number[]] = [[], [], []];
  const differing: string[] = [];
  for (const text of texts) {
    const our = await repeat(runs.ours, () => client.search(text));
    const their = await repeat(runs.theirs, () => zypper.search(text));
    const hits = hitsIn(our.value);
    if (hits.length < maxHits && !isSame(new Set(hits), their.value)) differing.push(text);
    say(`search ${text}: ${hits.length} hits in ${our.ms.toFixed(1)} ms, zypper ${their.ms.toFixed(0)} ms`);
    ours.push(our.ms);
    theirs.push(their.ms);
    ratios.push(their.ms / our.ms);
  }
  const found = differing.length === 0 ? "the same names" : `other names for ${differing.join(", ")}`;
  return {
    what: `search in all repositories, ${texts.length} texts`,
    ours: spread(ours, 1, " ms"),
    against: `zypper se ${spread(theirs, 0, " ms")}; ${found}`,
    ratio: spread(ratios, 0, "×"),
    bar: "≥ 20×",
    verdict: verdict(median(ratios) >= 20 && differing.length === 0),
  };
}

/** The median time of the runs, and the first answer. */
async function repeat<T>(times: number, run: () => Promise<Timed<T>>): Promise<Timed<T>> {
  const first = await run();
  const all = [first.ms];
  while (all.length < times) all.push((await run()).ms);
  return { ms: median(all), value: first.value };
}

/** A package that represents a pattern appears only as the pattern in Kiln, but as both in zypper. */
const isSame = (ours: Set<string>, theirs: Set<string>) =>
  [...ours.symmetricDifference(theirs)].every((name) => name.startsWith("patterns-"));

/** Names of packages, once for each version, and of patterns. */
const hitsIn = (xml: string): string[] =>
  [...xml.matchAll(/<(?:package|pattern) [^>]*>([^<]*)</g)].map(([, name = ""]) => name);
