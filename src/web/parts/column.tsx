import type { Child } from "hono/jsx";

/** The content of a page, as wide as the window allows. */
export const Content = ({ look = "", children }: { look?: string; children: Child }) => (
  <div class={`wrap content ${look}`}>{children}</div>
);

/** A page of text: a narrow column. */
export const Column = ({ children }: { children: Child }) => (
  <div class="wrap content narrow">
    <div class="prose">{children}</div>
  </div>
);
