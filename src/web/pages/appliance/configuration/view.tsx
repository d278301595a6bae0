import type { Child } from "hono/jsx";
import type { ShownConfiguration } from "#domain/configuration/of-appliance";
import { Button, ButtonLink } from "../../../parts/button.tsx";
import { Content } from "../../../parts/column.tsx";
import { Form, Hidden } from "../../../parts/form.tsx";
import { applianceAt } from "../with-appliance.ts";
import { FieldOf } from "./form-field.tsx";
import { markOf } from "./mark.ts";
import { sections, type Section } from "./sections.ts";
import type { Setting } from "./settings.ts";

interface SectionPageProps {
  /** The address of the configuration. */
  at: string;
  section: Section;
  children: Child;
}

/** A section, next to the list of all sections. */
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

interface SectionFormProps {
  section: Section;
  /** The choices that the form offers. */
  settings: readonly Setting[];
  shown: ShownConfiguration;
}

/** The name of the field with the mark of the values that a form has shown. */
export const shownMark = "shown";

export const markOfSettings = (settings: readonly Setting[], shown: ShownConfiguration): string =>
  markOf(settings.map((setting) => setting.valueIn(shown)));

/** The settings of a section, in one form. */
export const SectionForm = ({ section, settings, shown }: SectionFormProps) => (
  <Form action={addressOf(section, shown)} class="panel stack" swap="main" countsUnsaved>
    <Hidden fields={{ [shownMark]: markOfSettings(settings, shown) }} />
    {settings.map((setting) => (
      <FieldOf field={setting} value={setting.valueIn(shown)} />
    ))}
    <SaveRow discardTo={addressOf(section, shown)} />
  </Form>
);

const addressOf = ({ path }: Section, { id }: ShownConfiguration): string => applianceAt(id, `configuration/${path}`);

interface SaveRowProps {
  /** The address of the page with the saved values. */
  discardTo: string;
  /** The name of what the button saves, for screen readers. */
  about?: string;
  /** Another button at the end of the row. */
  children?: Child;
}

/** The end of each form: buttons to save or discard, and the number of unsaved fields. */
export const SaveRow = ({ discardTo, about, children }: SaveRowProps) => (
  <div class="row">
    <Button look="primary" icon="check" about={about}>
      Save
    </Button>
    <ButtonLink href={discardTo} look="plain" about={about && `changes to ${about}`}>
      Discard
    </ButtonLink>
    <span class="hint grow" role="status" data-unsaved-count="" />
    {children}
  </div>
);
