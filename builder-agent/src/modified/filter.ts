import { isSecretPath, type ModifiedFilter } from "../contract.ts";

const isAtOrBelow = (path: string, place: string) => place === "/" || path === place || path.startsWith(`${place}/`);

/** Whether a path is requested. */
export const isWanted = (path: string, { paths, except, withoutSecrets = false }: ModifiedFilter): boolean =>
  (paths.length === 0 || paths.some((place) => isAtOrBelow(path, place))) &&
  !except.some((place) => isAtOrBelow(path, place)) &&
  !(withoutSecrets && isSecretPath(path));

/** Whether anything at or below a path may be requested. */
export const mayHoldWanted = (path: string, { paths, except }: ModifiedFilter): boolean =>
  (paths.length === 0 || paths.some((place) => isAtOrBelow(path, place) || isAtOrBelow(place, path))) &&
  !except.some((place) => isAtOrBelow(path, place));
