import type { IconName } from "./icon-names.ts";

/**
 * An icon in the colour of the words next to it. Without words, it needs a label. The page adds the symbol
 * (`sprite.ts`).
 */
export const Icon = ({ name, label }: { name: IconName; label?: string | undefined }) =>
  label === undefined ? (
    <svg class="i" aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  ) : (
    <svg class="i" role="img" aria-label={label}>
      <use href={`#i-${name}`} />
    </svg>
  );

/** A flame that is shown only while something is being built. */
export const Flame = () => (
  <svg class="flame" viewBox="10 9 12 17" aria-hidden="true">
    <path d={flame} />
  </svg>
);

export const flame =
  "M16 10c1 4 5 5.5 5 10a5 5 0 0 1-10 0c0-2.5 1.2-3.6 2.2-5 .5 1.2 1 1.8 1.8 2.2C14.800 14.500 15 12 16 10z";
