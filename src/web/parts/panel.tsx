import type { Child } from "hono/jsx";

interface PanelProps {
  /** The id of the heading, which names the section. */
  id: string;
  title: string;
  count?: number | undefined;
  /** A few words or a link, at the end of the heading's line. */
  hint?: Child;
  /** Whether the content, such as a list or a table, reaches the edges. */
  isFlush?: boolean;
  /** Further classes: `stack`, `prose`. */
  look?: string;
  /** Whether the heading gets the focus when the page is loaded, because the person works here. */
  hasFocus?: boolean;
  children: Child;
}

/** A section in a box, with its heading. */
export const Panel = ({ id, title, count, hint, isFlush, look = "", hasFocus = false, children }: PanelProps) => (
  <section class={`panel ${isFlush ? "flush" : ""} ${look}`} aria-labelledby={id}>
    <div class="head">
      <h2 id={id} {...(hasFocus && { tabindex: -1, autofocus: true })}>
        {title}
        {count !== undefined && <span class="count"> {count}</span>}
      </h2>
      {hint && <span class="hint">{hint}</span>}
    </div>
    {children}
  </section>
);

/** Pairs of a name and a value. Those without a value are omitted. */
export const Facts = ({ of: facts }: { of: readonly (readonly [name: string, value: Child | undefined])[] }) => (
  <dl class="facts">
    {facts.map(([name, value]) =>
      value === undefined || value === null || value === false || value === "" ? null : (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ),
    )}
  </dl>
);

/** Fills an empty place: describes what belongs there, and how to get it. */
export const Empty = ({ title, isH3, children }: { title: string; isH3?: boolean; children: Child }) => (
  <div class="empty">
    {isH3 ? <h3>{title}</h3> : <h2>{title}</h2>}
    {children}
  </div>
);
