import type { Context } from "hono";
import type { OverviewOrder, OverviewState } from "#storage/appliance-overview";
import type { AffectedState } from "#model/advisory";
import { pageIn } from "../../parts/pager.tsx";

/** The part of the list that a person wants to see, as the address of the page states it. */
export interface Asked {
  search: string;
  state: OverviewState | undefined;
  tag: string | undefined;
  advisories: AffectedState | undefined;
  order: OverviewOrder;
  /** Counted from 1. */
  at: number;
  /** Whether every appliance of the page is chosen. */
  isAllChosen: boolean;
}

/** The first is the default. */
export const orders: readonly (readonly [OverviewOrder, string])[] = [
  ["edited", "Last edited first"],
  ["name", "By name"],
  ["built", "Last built first"],
  ["created", "Newest first"],
];

export const states: readonly (readonly [OverviewState, string])[] = [
  ["ok", "Ready to build"],
  ["warning", "With warnings"],
  ["error", "Cannot be built"],
  ["running", "Being built"],
  ["unknown", "Being checked"],
];

/** The states of advisories that a person can do something about. */
export const concerns: readonly (readonly [AffectedState, string])[] = [
  ["fixed", "Fixed in an update"],
  ["open", "Not fixed yet"],
];

export function askedOf(c: Context): Asked {
  const { search = "", state, tag = "", advisories, order, page, all } = c.req.query();
  return {
    search: search.trim().slice(0, 100),
    state: states.find(([each]) => each === state)?.[0],
    tag: tag === "" ? undefined : tag.slice(0, 50),
    advisories: concerns.find(([each]) => each === advisories)?.[0],
    order: orders.find(([each]) => each === order)?.[0] ?? "edited",
    at: pageIn(page),
    isAllChosen: all === "1",
  };
}

export const isFiltered = ({ search, state, tag, advisories }: Asked): boolean =>
  search !== "" || state !== undefined || tag !== undefined || advisories !== undefined;

/** The address of the same list, with these changes. */
export function addressOf({ search, state, tag, advisories, order, at, isAllChosen }: Asked): string {
  const given: [string, string | undefined][] = [
    ["search", search],
    ["state", state],
    ["tag", tag],
    ["advisories", advisories],
    ["order", order === "edited" ? undefined : order],
    ["page", at === 1 ? undefined : String(at)],
    ["all", isAllChosen ? "1" : undefined],
  ];
  const query = new URLSearchParams(given.flatMap(([name, value]) => (value ? [[name, value]] : [])));
  return query.size === 0 ? "/appliances" : `/appliances?${query}`;
}
