import { mapParts } from "#wire/map-parts";
import type { AnyShape, Fields, Part, Shape } from "#wire/shape";

/** The same document, which never shows a secret. A reader still takes them. */
export const withoutSecrets = <T, C>(shape: Fields & Shape<T, C>): Fields & Shape<T, C> => mapParts(shape, hidden);

const hidden = (part: Part): Part =>
  isSecret(part.shape) ? { ...part, isOptional: true, get: () => undefined } : part;

const isSecret = (shape: AnyShape): boolean => shape.kind === "leaf" && shape.isSecret === true;
