import type { Uses } from "#storage/gallery-listings";
import { number } from "../../parts/words.ts";

const words = [
  ["testdrives", "Tried by"],
  ["clones", "Cloned by"],
  ["downloads", "Downloaded by"],
] as const satisfies readonly (readonly [keyof Uses, string])[];

/** How many other people have tried, cloned and downloaded it. Counts of zero are omitted. */
export const UsesOf = ({ uses }: { uses: Uses }) => (
  <>
    {words
      .filter(([kind]) => uses[kind] > 0)
      .map(([kind, done]) => (
        <span class="sub num nowrap">
          {done} {number(uses[kind])}
        </span>
      ))}
  </>
);
