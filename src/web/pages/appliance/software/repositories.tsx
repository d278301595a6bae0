import type { Repository } from "#storage/repositories";
import { ActionButton, Button } from "../../../parts/button.tsx";
import { Field, Select } from "../../../parts/field.tsx";
import { Form, Hidden, useRefused } from "../../../parts/form.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { State } from "../../../parts/state.tsx";
import { applianceAt } from "../with-appliance.ts";
import type { ShownSoftware } from "./shown.ts";

/** The repositories that the software comes from, and a form to add others. */
export const Repositories = ({ seen }: { seen: ShownSoftware }) => {
  const { software, usable, appliance } = seen;
  const at = applianceAt(appliance.id, "software/repositories");
  const isRefused = [useRefused(at, "use-repository"), useRefused(at, "import-repository")].includes(true);
  return (
    <Panel id="repos" title="Repositories" count={software.repositories.length} isFlush>
      <ul class="rows tight">
        {software.repositories.map((repository) => (
          <One repository={repository} at={at} />
        ))}
      </ul>
      <details class="body small-text" open={isRefused}>
        <summary>Add a repository</summary>
        {usable.length > 0 && (
          <Form action={at} id="use-repository" class="row" swap="main">
            <Hidden fields={{ do: "use" }} />
            <Select
              name="repository"
              label="One that Kiln knows"
              options={usable.map(({ id, name }) => [String(id), name])}
            />
            <Button look="small" icon="plus">
              Add
            </Button>
          </Form>
        )}
        <Form action={at} id="import-repository" class="stack-s" once swap="main">
          <Hidden fields={{ do: "import" }} />
          <Field
            name="url"
            label="Address"
            hint="Or a line of apt's sources.list."
            also={{ placeholder: "https://", inputmode: "url" }}
          />
          <Field name="name" label="Name" />
          <Button icon="download">Import</Button>
        </Form>
      </details>
    </Panel>
  );
};

const One = ({ repository, at }: { repository: Repository; at: string }) => {
  const { id, name, importState, problem } = repository;
  return (
    <li>
      <div class="line">
        {problem === null ? <Icon name="database" /> : <Icon name="triangle-alert" label="Has a problem" />}
        <span class="grow breaks">
          {name}
          {importState === "importing" && (
            <>
              <br />
              <State tone="busy">Being imported</State>
            </>
          )}
          {problem !== null && (
            <>
              <br />
              <span class="quiet">{problem}</span>
            </>
          )}
        </span>
        <ActionButton
          action={at}
          fields={{ do: "drop", repository: id }}
          look="small plain"
          icon="x"
          about={name}
          swap="main"
        >
          Remove
        </ActionButton>
      </div>
    </li>
  );
};
