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
  /** The choice or the switch of the same form without which it has no effect: it is hidden then (fields.css). */
  usedWith?: "manual" | "lvm";
  /** Of lines. */
  rows?: number;
}

interface FieldOfProps {
  field: FormField;
  /** Undefined if nothing was chosen yet. */
  value: string | undefined;
}

export const FieldOf = ({ field, value }: FieldOfProps) =>
  field.usedWith ? (
    <div data-used-with={field.usedWith}>
      <Kind field={field} value={value} />
    </div>
  ) : (
    <Kind field={field} value={value} />
  );

const Kind = ({ field, value }: FieldOfProps) => {
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
