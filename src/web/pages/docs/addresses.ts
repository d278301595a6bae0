import type { Group } from "#api/operation";

export const docsPath = "/api/docs";

/** The page of a group of calls. */
export const docsOf = ({ title }: Pick<Group, "title">): string =>
  `${docsPath}/${title.toLowerCase().replaceAll(" ", "-")}`;

export const errorAnchor = (code: string): string => `error-${code}`;
