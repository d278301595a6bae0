import { isSecretPath, type ModifiedFilter } from "../contract.ts";

const isAtOrBelow = (path: string, place: string) => place === "/" || path === place || path.startsWith(`${place}/`);

/** Whether a path is asked for. */
export const isWanted = (path: string, { paths, except, withoutSecrets = false }: ModifiedFilter): boolean =>
  (paths.length === 0 || paths.some((place) => isAtOrBelow(path, place))) &&
  !except.some((place) => isAtOrBelow(path, place)) &&
  !(withoutSecrets && isSecretPath(path));

/** Whether anything below a directory may be. */
export const mayHoldWanted = (path: string, { paths, except }: ModifiedFilter): boolean =>
  (paths.length === 0 || paths.some((place) => isAtOrBelow(path, place) || isAtOrBelow(place, path))) &&
  !except.some((place) => isAtOrBelow(path, place));
