import type { Child } from "hono/jsx";
import { Form, Hidden } from "./form.tsx";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icon-names.ts";

interface ButtonProps {
  /** Classes: `primary`, `plain`, `danger`, `large`, `small`, `square`. A page has one primary button. */
  look?: string;
  icon?: IconName | undefined;
  /** The subject of a button in a row, for screen readers, such as "of 0.0.2 oem". */
  about?: string | undefined;
  name?: string;
  value?: string;
  /** The id of the element that explains why the button is disabled. */
  disabledBy?: string | undefined;
  /** Whether the button gets the focus when the page is loaded, because the person works here. */
  hasFocus?: boolean | undefined;
  children: Child;
}

/** A button that sends its form. */
export const Button = ({ look = "", icon, about, name, value, disabledBy, hasFocus, children }: ButtonProps) => (
  <button
    class={`button ${look}`}
    name={name}
    value={value}
    disabled={disabledBy !== undefined}
    aria-describedby={disabledBy}
    autofocus={hasFocus}
  >
    {icon && <Icon name={icon} />} {children}
    <About of={about} />
  </button>
);

interface LinkProps extends Pick<ButtonProps, "look" | "icon" | "about" | "children"> {
  href: string;
  /** Whether the browser should save the file. */
  isDownload?: true;
  /** The ids of the elements that are replaced by those of the linked page, separated by spaces. */
  swap?: string;
}

/** A link that looks like a button. */
export const ButtonLink = ({ look = "", icon, about, href, isDownload, swap, children }: LinkProps) => (
  <a class={`button ${look}`} href={href} download={isDownload} data-swap={swap}>
    {icon && <Icon name={icon} />} {children}
    <About of={about} />
  </a>
);

interface CopyProps extends Pick<ButtonProps, "look" | "about"> {
  of: string;
  words: string;
}

/**
 * Copies the text of the element with this id. It needs a script, and is hidden without one. With a role on its text,
 * the button would have no accessible name.
 */
export const CopyButton = ({ of: id, words, look = "small", about }: CopyProps) => (
  <button class={`button ${look}`} type="button" data-copy={id} hidden>
    <Icon name="copy" /> <span aria-live="polite">{words}</span>
    <About of={about} />
  </button>
);

interface ActionProps extends Omit<ButtonProps, "name" | "value"> {
  action: string;
  /** The id of the form, which is needed if the page has several with one action. */
  id?: string;
  /** If false, `FaultsOf` shows its faults elsewhere. */
  showsFaults?: boolean;
  fields?: Readonly<Record<string, string | number>>;
  once?: true;
  swap?: string;
}

/** A form with only a button. */
export const ActionButton = ({ action, id, fields = {}, once, swap, showsFaults = true, ...button }: ActionProps) => (
  <Form action={action} swap={swap} showsFaults={showsFaults} {...(id !== undefined && { id })} {...(once && { once })}>
    <Hidden fields={fields} />
    <Button {...button} />
  </Form>
);

const About = ({ of: about }: { of: string | undefined }) =>
  about === undefined ? null : <span class="hidden"> {about}</span>;
