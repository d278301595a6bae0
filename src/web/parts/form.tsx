import { createContext, useContext, type Child } from "hono/jsx";
import { fieldId, type FormState, type Given } from "../given.ts";
import { Icon } from "./icon.tsx";

interface Page {
  /** Undefined if no one is signed in. */
  formToken: string | undefined;
  given: Given | undefined;
}

interface PageState extends Page {
  /** A value that no other form has. */
  nextOnce: () => string;
}

const PageForms = createContext<PageState>({
  formToken: undefined,
  given: undefined,
  nextOnce: () => crypto.randomUUID(),
});
const ThisForm = createContext<FormState>({ id: undefined, given: undefined });

/** Provides the forms of a page with their token, and a refused form with its values. */
export const Formed = ({ formToken, given, children }: Page & { children: Child }) => (
  <PageForms.Provider value={{ formToken, given, nextOnce: onces() }}>{children}</PageForms.Provider>
);

/** The forms of a page share the random part, because a long list of random values cannot be compressed. */
function onces(): () => string {
  let page: string | undefined;
  let count = 0;
  return () => `${(page ??= crypto.randomUUID())}-${count++}`;
}

/** A value for a button that sends its form to another address, and so contains the value in that address. */
export const useOnce = (): string => useContext(PageForms).nextOnce();

export const useForm = (): FormState => useContext(ThisForm);

/** Whether this form was refused. Then an element that contains it must be open. */
export const useRefused = (action: string, id: string | undefined): boolean => {
  const { given } = useContext(PageForms);
  return given?.action === action && given.form === id;
};

/** Whether any form with this action was refused. */
export const useAnyRefused = (action: string): boolean => useContext(PageForms).given?.action === action;

interface FormProps {
  action: string;
  /** Needed if the page has several forms with one action, or several fields of one name. */
  id?: string;
  class?: string;
  /** The form creates something. Sending it twice creates it only once. */
  once?: true;
  /**
   * The ids of the elements that its answer replaces, separated by spaces. Without scripts, the browser loads the page.
   */
  swap?: string | undefined;
  /** If false, `FaultsOf` shows its faults elsewhere. */
  showsFaults?: boolean;
  hasFile?: true;
  /** A form with files: it shows the progress, accepts dropped files, and its answer replaces these elements. */
  upload?: string;
  /** Shows the number of unsaved fields in its element with `data-unsaved-count`. */
  countsUnsaved?: true;
  children: Child;
}

/** A form that changes something. It contains the fields that `submit` checks, and shows its faults. */
export const Form = ({
  action,
  id,
  class: look,
  once,
  swap,
  showsFaults = true,
  hasFile,
  upload,
  countsUnsaved,
  children,
}: FormProps) => {
  const { formToken, given, nextOnce } = useContext(PageForms);
  const own = given && given.action === action && given.form === id ? given : undefined;
  return (
    <ThisForm.Provider value={{ id, given: own }}>
      <form
        method="post"
        action={action}
        id={id}
        class={look}
        data-swap={swap}
        data-upload={upload}
        data-pending={swap === undefined && upload === undefined ? "" : undefined}
        data-unsaved={countsUnsaved && ""}
        enctype={hasFile && "multipart/form-data"}
      >
        {formToken !== undefined && <input type="hidden" name="form_token" value={formToken} />}
        {id !== undefined && <input type="hidden" name="form" value={id} />}
        {once && <input type="hidden" name="once" value={nextOnce()} />}
        {own && showsFaults && <Faults id={id} given={own} />}
        {children}
      </form>
    </ThisForm.Provider>
  );
};

interface FaultsOfProps {
  action: string;
  /** Only the faults of the form with this id. */
  form?: string;
  /** The ids of forms that show their own faults. */
  shown?: readonly string[];
}

/** The faults of a form that is elsewhere on the page, or is gone. */
export const FaultsOf = ({ action, form, shown = [] }: FaultsOfProps) => {
  const { given } = useContext(PageForms);
  if (given?.action !== action || (form !== undefined && given.form !== form)) return null;
  return shown.includes(given.form ?? "") ? null : <Faults id={given.form} given={given} />;
};

/** Hidden values that are sent with the form. */
export const Hidden = ({ fields }: { fields: Readonly<Record<string, string | number>> }) => (
  <>
    {Object.entries(fields).map(([name, value]) => (
      <input type="hidden" name={name} value={String(value)} />
    ))}
  </>
);

/** The faults, above the form. The element gets the focus, and links to each wrong field. */
const Faults = ({ id, given }: { id: string | undefined; given: Given }) => {
  const faults = Object.entries(given.faults);
  // Without a message, the page asks a question instead.
  if (given.fault === undefined && faults.length === 0) return null;
  return (
    <div class="notice" data-tone="bad" role="alert" tabindex={-1} autofocus>
      <Icon name="circle-x" />
      <div>
        {given.fault !== undefined && <p>{given.fault}</p>}
        {faults.length > 0 && (
          <ul>
            {faults.map(([name, sentence]) => (
              <li>
                <a href={`#${fieldId({ id }, name)}`}>{sentence}</a>
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
};
