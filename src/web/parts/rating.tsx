import { counted } from "./words.ts";

/** Five stars, and the same in words. */
export const Rating = ({ average, count }: { average: number; count: number }) =>
  count === 0 ? (
    <span class="sub">Not rated yet</span>
  ) : (
    <span class="rating">
      <svg class="stars" viewBox="0 0 100 20" aria-hidden="true">
        <use class="off" href="#stars" />
        <svg width={(average * 20).toFixed(0)} height="20">
          <use class="on" href="#stars" />
        </svg>
      </svg>
      <span>
        <span class="hidden">Rated </span>
        {average.toFixed(1)}
        <span class="hidden"> of 5 by {counted(count, "person", "people")}</span>
        <span aria-hidden="true"> ({count})</span>
      </span>
    </span>
  );
