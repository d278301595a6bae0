import { wellKnownPorts } from "#lib/kiwi/firewall";
import type { Question } from "#lib/wire/shape";
import { Choice, Field, Select, Suggesting, TextArea } from "../../../parts/field.tsx";
import { useForm } from "../../../parts/form.tsx";
import type { PickList } from "./pick-lists.ts";

/** A field of a form of the configuration. */
export interface FormField {
  /** The path of a setting, which is that of its element in the document `configuration`. */
  name: string;
  label: string;
  kind: "line" | "lines" | "number" | "password" | "switch" | "choice" | "pick" | "list" | "ports" | "script";
  hint?: string | undefined;
  /** The values of a choice, with their labels, and the fields that are shown only with such a value. */
  options?: readonly (readonly [value: string, words: string, uses?: string])[];
  /** The values that a `pick` field offers. */
  picks?: () => PickList;
  /** A setting of the same form. While that is off, this field has no effect and is hidden (fields.css). */
  usedWith?: string;
  /** The fact of the base system without which it is not offered. */
  ofBase?: Question["ofBase"];
  /** The height of a field for several lines. */
  rows?: number;
}

interface FieldOfProps {
  field: FormField;
  /** Undefined if nothing has been chosen yet. */
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
        <Choice name={name} value="true" isChecked={value === "true"} isSwitch {...(hint !== undefined && { hint })}>
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
      return <Password {...common} />;
    case "pick":
      return <Suggesting {...common} suggestions={field.picks?.() ?? []} />;
    case "ports":
      return <Ports field={field} value={value} />;
    default:
      return <Field {...common} type={kind === "number" ? "number" : "text"} />;
  }
};

/** No page contains a typed password. With scripts, its field keeps it when the form is refused (`swapping.ts`). */
const Password = ({ name, hint, ...common }: { name: string; label: string; hint?: string }) => {
  const wasTyped = useForm().given?.values[name]?.[0] !== undefined;
  const shown = wasTyped ? "Not saved yet. Enter it again if the field is empty." : hint;
  return (
    <Field
      name={name}
      label={common.label}
      {...(shown !== undefined && { hint: shown })}
      type="password"
      also={{ autocomplete: "new-password" }}
    />
  );
};

/** The name of the check boxes for ports. The field itself is for other ports. */
export const portField = "port";

const usualPorts = ["ssh", "http", "https", "smtp", "domain", "imaps", "postgresql", "mysql"];

/** A box for each usual port and each open one, and a line for more. */
const Ports = ({ field: { name, label, hint }, value = "" }: FieldOfProps) => {
  const open = value.split(", ").filter((port) => port !== "");
  return (
    <fieldset class="stack-s">
      <legend>{label}</legend>
      <div class="chips">
        {[...new Set([...usualPorts, ...open])].map((port) => (
          <Choice name={portField} value={port} isChecked={open.includes(port)}>
            {port} <span class="quiet num">{wellKnownPorts[port]}</span>
          </Choice>
        ))}
      </div>
      <Field
        name={name}
        label="Also open"
        value=""
        {...(hint !== undefined && { hint })}
        also={{ autocomplete: "off" }}
      />
    </fieldset>
  );
};
