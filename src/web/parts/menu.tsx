import type { Child } from "hono/jsx";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icon-names.ts";

interface MenuProps {
  /** Unique on the page. */
  id: string;
  /** The classes of its button. */
  look?: string;
  icon?: IconName;
  /** The text of the button, or its label if it shows only the icon. */
  words?: string;
  label?: string;
  children: Child;
}

/** A button that opens a list of links and forms. It needs no script. */
export const Menu = ({ id, look = "", icon, words, label, children }: MenuProps) => (
  <>
    <button class={`button ${look}`} type="button" popovertarget={id} aria-label={label}>
      {icon && <Icon name={icon} />}
      {words !== undefined && (
        <>
          {" "}
          <span class="menu-words">{words}</span> <Icon name="chevron-down" />
        </>
      )}
    </button>
    <div class="menu" id={id} popover="auto">
      <ul>{children}</ul>
    </div>
  </>
);

export const MenuLink = ({ href, icon, children }: { href: string; icon: IconName; children: Child }) => (
  <li>
    <a class="item" href={href}>
      <Icon name={icon} /> {children}
    </a>
  </li>
);
