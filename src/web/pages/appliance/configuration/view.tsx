import type { Child } from "hono/jsx";
import type { ShownConfiguration } from "#domain/configuration/of-appliance";
import { Button } from "../../../parts/button.tsx";
import { Content } from "../../../parts/column.tsx";
import { Choice, Field, Select, TextArea } from "../../../parts/field.tsx";
import { Form } from "../../../parts/form.tsx";
import { applianceAt } from "../with-appliance.ts";
import { shownValue } from "./document.ts";
import { sections, type Section, type Setting } from "./sections.ts";

interface SectionPageProps {
  /** The address of the configuration. */
  at: string;
  section: Section;
  children: Child;
}

/** A section beside the list of all of them. */
export const SectionPage = ({ at, section: current, children }: SectionPageProps) => (
  <Content look="split side-first">
    <nav class="side" aria-label="Configuration">
      <ul>
        {sections.map((section) => (
          <li>
            <a href={`${at}/${section.path}`} aria-current={section === current ? "page" : undefined}>
              {section.title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
    <div class="stack narrow-form">
      <h2 class="as-h1">{current.title}</h2>
      {children}
    </div>
  </Content>
);

/** The settings of a section, in one form. */
export const SectionForm = ({ section, shown }: { section: Section; shown: ShownConfiguration }) => (
  <Form action={applianceAt(shown.id, `configuration/${section.path}`)} class="stack">
    <fieldset class="panel stack">
      <legend class="hidden">{section.title}</legend>
      {section.settings.map((setting) => (
        <SettingField setting={setting} value={shownValue(shown, setting)} />
      ))}
    </fieldset>
    <div class="row">
      <Button icon="check">Save</Button>
    </div>
  </Form>
);

const SettingField = ({ setting, value }: { setting: Setting; value: string }) => {
  const { path: name, label, kind, hint, options = [] } = setting;
  const field = { name, label, value, ...(hint !== undefined && { hint }) };
  switch (kind) {
    case "switch":
      return (
        <Choice name={name} value="true" isChecked={value === "true"} isSwitch>
          {label}
        </Choice>
      );
    case "choice": {
      const isKnown = options.some(([each]) => each === value);
      return <Select {...field} options={isKnown ? options : [[value, value], ...options]} />;
    }
    case "lines":
      return <TextArea {...field} also={{ rows: 4 }} />;
    case "script":
      return <TextArea {...field} look="mono" also={{ rows: 12, spellcheck: "false" }} />;
    default:
      return <Field {...field} type={kind === "number" ? "number" : "text"} />;
  }
};
