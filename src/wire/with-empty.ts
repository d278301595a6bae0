import { mapParts } from "#wire/map-parts";
import type { Fields, Part, Shape } from "#wire/shape";

/** The same document, which shows empty texts and lists too: a reader that keeps what is omitted makes them empty. */
export const withEmpty = <T, C>(shape: Fields & Shape<T, C>): Fields & Shape<T, C> => mapParts(shape, shown);

const shown = (part: Part): Part =>
  part.skipsEmpty ? { ...part, skipsEmpty: false, isOptional: part.when !== undefined } : part;
