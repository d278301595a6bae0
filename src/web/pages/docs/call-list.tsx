import { groups } from "#api/groups";
import type { Group, Operation } from "#api/operation";
import { Search } from "../../parts/search.tsx";
import { number } from "../../parts/words.ts";
import { docsOf, docsPath } from "./addresses.ts";
import { memoizedHtml } from "./memoized-html.ts";

/**
 * All calls by method and path. The island `filter` shows those that match the search. Without scripts, the search is a
 * parameter of the address.
 */
export const CallList = ({ search }: { search: string }) => {
  const found = calls.filter(({ call }) => matches(call, search));
  return (
    <section id="calls">
      <h2>
        All calls <span class="count">{number(calls.length)}</span>
      </h2>
      <Search
        action={`${docsPath}#calls`}
        name="q"
        value={search}
        label="Search the calls"
        placeholder="Part of a path, a method or a word"
        filter="call-list"
      />
      <ul class="call-list" id="call-list" tabindex={0} aria-label="Calls">
        {found.map((listed) => line(listed))}
      </ul>
      <p class="quiet" id="call-list-none" hidden={found.length > 0}>
        No call has these words. <a href={`${docsPath}#calls`}>Show all</a>
      </p>
    </section>
  );
};

/** A call in the list. Older links to a call use this id. */
const line = memoizedHtml(({ group, call: { name, method, path, summary } }: Listed) => (
  <li id={name}>
    <a href={`${docsOf(group)}#${name}`}>
      <code>
        <b class={method.toLowerCase()}>{method}</b> {path}
      </code>{" "}
      <span class="quiet">{summary}</span>
    </a>
  </li>
));

interface Listed {
  group: Group;
  call: Operation;
}

const calls: readonly Listed[] = groups
  .flatMap((group) => group.operations.map((call) => ({ group, call })))
  .toSorted(({ call: one }, { call: other }) => (one.path < other.path ? -1 : one.path > other.path ? 1 : 0));

const matches = ({ method, path, summary }: Operation, search: string): boolean => {
  const text = `${method} ${path} ${summary}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
};
