import type { OfferedBase } from "#domain/appliances/offer";
import { day } from "../../parts/words.ts";

interface SupportProps {
  facts: OfferedBase["facts"];
  /** `2026-11-24` */
  today: string;
}

/** How long the distribution of a base system is supported, with a link to the source. */
export const SupportOf = ({ facts: { support, isToy }, today }: SupportProps) => {
  if (isToy === true) return <p class="sub">A toy to try Kiln with: it is built in seconds, and gets no updates.</p>;
  if (support === undefined) return null;
  const { words, isOver } = supportWords(support, today);
  return (
    <p class="sub">
      {isOver ? <b>{words}</b> : words} (<a href={support.source}>source</a>)
    </p>
  );
};

type Support = NonNullable<OfferedBase["facts"]["support"]>;

export function supportWords({ until, longTermUntil }: Support, today: string): { words: string; isOver: boolean } {
  if (until === null) return { words: "A rolling release: supported as long as it is updated", isOver: false };
  const last = longTermUntil ?? until;
  if (last < today) return { words: `No longer supported since ${day(last)}`, isOver: true };
  if (until < today) return { words: `Only long-term support, until ${day(last)}`, isOver: false };
  const more = longTermUntil === undefined ? "" : `, long-term support until ${day(longTermUntil)}`;
  return { words: `Supported until ${day(until)}${more}`, isOver: false };
}
