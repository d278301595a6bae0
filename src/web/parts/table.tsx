import type { Child } from "hono/jsx";

interface Column {
  words: string;
  /** The heading is only for screen readers, for example above a column of buttons. */
  isHidden?: true;
  isNumber?: true;
}

interface TableProps {
  /** The id of the heading that names the table. Otherwise it needs a `label`. */
  labelledBy?: string;
  label?: string;
  columns: readonly (string | Column)[];
  /** On a narrow screen, each row becomes a card, where `data-label` of a cell is its heading. */
  isCards?: true;
  /** Rows: `<tr>` with a `<th scope="row">`. */
  children: Child;
}

/** A table, which scrolls sideways if it does not fit. */
export const Table = ({ labelledBy, label, columns, isCards, children }: TableProps) => (
  <div class="scroll" tabindex={0} role="group" aria-labelledby={labelledBy} aria-label={label}>
    <table class={isCards ? "table cards-below" : "table"}>
      <thead>
        <tr>
          {columns
            .map((column): Column => (typeof column === "string" ? { words: column } : column))
            .map(({ words, isHidden, isNumber }) => (
              <th scope="col" class={isNumber && "num"}>
                {isHidden ? <span class="hidden">{words}</span> : words}
              </th>
            ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);
