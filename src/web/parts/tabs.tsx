import type { FC } from "hono/jsx";

interface Tab {
  path: string;
  words: string;
}

/** Links to the pages of one subject. `label` names them for screen readers. */
export const Tabs: FC<{ label: string; tabs: readonly Tab[]; current: string }> = ({ label, tabs, current }) => (
  <nav class="tabs" aria-label={label}>
    <ul>
      {tabs.map(({ path, words }) => (
        <li>
          <a href={path} aria-current={path === current ? "page" : undefined}>
            {words}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);
