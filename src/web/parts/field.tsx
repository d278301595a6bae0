import type { Child } from "hono/jsx";
import { fieldId } from "../given.ts";
import { useForm } from "./form.tsx";
import { Icon } from "./icon.tsx";

interface FieldProps {
  name: string;
  label: string;
  /** Whether the label is only for screen readers, because its meaning is visible from the position. */
  isLabelHidden?: true;
  hint?: Child;
  value?: string | undefined;
}

interface InputProps extends FieldProps {
  type?: "text" | "password" | "search" | "email" | "url" | "number" | "file";
  /** Further classes: `short`, `auto`, `num`, `mono`. */
  look?: string;
  /** Further attributes of the input. */
  also?: Readonly<Record<string, string | number | boolean | undefined>>;
  required?: boolean;
}

/** A one-line text field with its label, its hint and its error. */
export const Field = ({ type = "text", look = "", also, required, ...field }: InputProps) => {
  const { attributes, value } = useField(field);
  return (
    <Labelled {...field}>
      <input
        class={`input ${look}`}
        type={type}
        {...attributes}
        {...(type !== "password" && type !== "file" && value !== undefined && { value })}
        {...also}
        required={required}
      />
    </Labelled>
  );
};

interface SuggestingProps extends InputProps {
  /** The values, some with words to find them by. */
  suggestions: readonly (readonly [value: string, words: string])[];
}

/** A line that suggests values while someone types. */
export const Suggesting = ({ suggestions, also, ...field }: SuggestingProps) => {
  const list = `${fieldId(useForm(), field.name)}-values`;
  return (
    <>
      <Field {...field} also={{ ...also, list, autocomplete: "off", spellcheck: "false" }} />
      <datalist id={list}>
        {suggestions.map(([value, words]) => (
          <option value={value} label={words === "" ? undefined : words} />
        ))}
      </datalist>
    </>
  );
};

/** A text field of many lines. */
export const TextArea = ({ look = "", also, required, ...field }: InputProps) => {
  const { attributes, value = "" } = useField(field);
  // HTML drops the first line break of a text area.
  return (
    <Labelled {...field}>
      <textarea class={`input ${look}`} {...attributes} {...also} required={required}>
        {value.startsWith("\n") ? `\n${value}` : value}
      </textarea>
    </Labelled>
  );
};

interface SelectProps extends FieldProps {
  /** The values with their labels, and the fields that are shown only with such a value (fields.css). */
  options: readonly (readonly [value: string, words: string, uses?: string])[];
  look?: string;
}

/** A choice of one of several values. */
export const Select = ({ options, look = "", ...field }: SelectProps) => {
  const { attributes, value } = useField(field);
  return (
    <Labelled {...field}>
      <select class={`input ${look}`} {...attributes}>
        {options.map(([each, words, uses]) => (
          <option value={each} selected={each === value} data-uses={uses}>
            {words}
          </option>
        ))}
      </select>
    </Labelled>
  );
};

interface ChoiceProps {
  name: string;
  value: string;
  isChecked?: boolean;
  type?: "checkbox" | "radio";
  /** Shows the check box as a switch, because it turns something on or off. */
  isSwitch?: true;
  hint?: string;
  children: Child;
}

/** A box or a circle to check. */
export const Choice = ({ name, value, isChecked, type = "checkbox", isSwitch, hint, children }: ChoiceProps) => {
  const { given } = useForm();
  const checked = given ? (given.values[name] ?? []).includes(value) : isChecked;
  const saved = given && String(isChecked ?? false);
  return (
    <label class={isSwitch ? "switch" : "choice"}>
      <input type={type} name={name} value={value} checked={checked} role={isSwitch && "switch"} data-saved={saved} />{" "}
      <span>
        {children}
        {hint !== undefined && <span class="hint"> {hint}</span>}
      </span>
    </label>
  );
};

const Labelled = ({ name, label, isLabelHidden, hint, children }: FieldProps & { children: Child }) => {
  const { id, fault } = useField({ name });
  return (
    <div class="field">
      <label for={id} class={isLabelHidden && "hidden"}>
        {label}
      </label>
      {children}
      {hint !== undefined && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {fault !== undefined && (
        <span class="wrong" id={`${id}-wrong`}>
          <Icon name="circle-x" /> {fault}
        </span>
      )}
    </div>
  );
};

function useField({ name, value, hint }: Pick<FieldProps, "name" | "value" | "hint">) {
  const form = useForm();
  const id = fieldId(form, name);
  const fault = form.given?.faults[name];
  const described = [hint !== undefined && `${id}-hint`, fault !== undefined && `${id}-wrong`].filter(Boolean);
  return {
    id,
    fault,
    value: form.given ? (form.given.values[name]?.[0] ?? "") : value,
    attributes: {
      id,
      name,
      // The island `unsaved` compares the value with it.
      ...(form.given && value !== undefined && { "data-saved": value }),
      ...(fault !== undefined && { "aria-invalid": "true" }),
      ...(described.length > 0 && { "aria-describedby": described.join(" ") }),
    },
  };
}
