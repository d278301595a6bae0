import type { Child } from "hono/jsx";
import { FaultsOf, Form, Hidden, useRefused } from "./form.tsx";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icon-names.ts";

interface ConfirmProps {
  /** Unique on the page. */
  id: string;
  /** The text of the button that opens it, without "…". If undefined, another element opens it (`popovertarget`). */
  words?: string;
  about?: string;
  look?: string;
  icon?: IconName;
  title: string;
  /** A warning about what else is deleted, and that this cannot be undone. */
  children: Child;
  action: string;
  fields?: Readonly<Record<string, string | number>>;
  /** The button that cancels: "Keep it". */
  no: string;
  /** The label of the button that confirms, with the name of the object: "Delete Print server". */
  yes: string;
}

const formOf = (id: string): string => `${id}-form`;

/** Whether the action of the `Confirm` with this id was refused. Then an element that contains it must be open. */
export const useConfirmRefused = (action: string, id: string): boolean => useRefused(action, formOf(id));

/**
 * A button that asks for confirmation before it does something that cannot be undone. It opens a popover, which needs
 * no script. The safe answer comes first. Faults are next to the button, because the popover of a new page is closed.
 */
export const Confirm = (props: ConfirmProps) => {
  const { id, words, about, look = "danger", icon = "trash-2", title, children, action, fields = {}, no, yes } = props;
  return (
    <>
      {words !== undefined && (
        <button class={`button ${look}`} type="button" popovertarget={id}>
          <Icon name={icon} /> {words} …{about !== undefined && <span class="hidden"> {about}</span>}
        </button>
      )}
      <FaultsOf action={action} form={formOf(id)} />
      <div class="box" id={id} popover="auto" role="dialog" aria-labelledby={`${id}-title`}>
        <h2 id={`${id}-title`}>{title}</h2>
        <p>{children}</p>
        <div class="row">
          <button class="button" type="button" popovertarget={id} popovertargetaction="hide" autofocus>
            {no}
          </button>
          <Form action={action} id={formOf(id)} showsFaults={false}>
            <Hidden fields={fields} />
            <button class="button danger">
              <Icon name={icon} /> {yes}
            </button>
          </Form>
        </div>
      </div>
    </>
  );
};
