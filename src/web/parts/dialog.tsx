import type { Child } from "hono/jsx";
import { Form, Hidden } from "./form.tsx";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icon-names.ts";

interface ConfirmProps {
  /** Unlike that of any other element of the page. */
  id: string;
  /** The button that opens it, without its "…". Default: another element opens it (`popovertarget`). */
  words?: string;
  about?: string;
  look?: string;
  icon?: IconName;
  title: string;
  /** What is deleted with it, and that this cannot be undone. */
  children: Child;
  action: string;
  fields?: Readonly<Record<string, string | number>>;
  /** "Keep it". */
  no: string;
  /** Names the thing: "Delete Print server". */
  yes: string;
}

/**
 * A button that asks before it does what cannot be undone. It opens a popover, which needs no script. The safe answer comes first.
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
      <div class="box" id={id} popover="auto" role="dialog" aria-labelledby={`${id}-title`}>
        <h2 id={`${id}-title`}>{title}</h2>
        <p>{children}</p>
        <div class="row">
          <button class="button" type="button" popovertarget={id} popovertargetaction="hide" autofocus>
            {no}
          </button>
          <Form action={action}>
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
