import { Choice, Field, Select, TextArea } from "../../../parts/field.tsx";

/** A field of a form of the configuration. */
export interface FormField {
  /** Of a setting: the path of its element in the document `configuration`. */
  name: string;
  label: string;
  kind: "line" | "lines" | "number" | "password" | "switch" | "choice" | "list" | "script";
  hint?: string | undefined;
  /** Of a choice: values with their words. */
  options?: readonly (readonly [value: string, words: string])[];
  /** Of lines. */
  rows?: number;
}

/** `value` is undefined if nothing was chosen yet. */
export const FieldOf = ({ field, value }: { field: FormField; value: string | undefined }) => {
  const { name, label, kind, hint, options = [], rows = 4 } = field;
  const common = { name, label, value, ...(hint !== undefined && { hint }) };
  switch (kind) {
    case "switch":
      return (
        <Choice name={name} value="true" isChecked={value === "true"} isSwitch>
          {label}
        </Choice>
      );
    case "choice": {
      const isKnown = value === undefined || options.some(([each]) => each === value);
      return <Select {...common} options={isKnown ? options : [[value, value], ...options]} />;
    }
    case "lines":
      return <TextArea {...common} also={{ rows }} />;
    case "script":
      return <TextArea {...common} look="mono" also={{ rows: 12, spellcheck: "false" }} />;
    case "password":
      return <Field {...common} type="password" also={{ autocomplete: "new-password" }} />;
    default:
      return <Field {...common} type={kind === "number" ? "number" : "text"} />;
  }
};
