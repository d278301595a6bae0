import type { Context } from "hono";
import { offered, type OfferedSet } from "#domain/appliances/template-set";
import { unimportedWords } from "#model/import-progress";
import type { Repository } from "#storage/repositories";
import { listTemplateSets } from "#storage/template-sets";
import { factory, type WebEnv } from "../../factory.ts";
import { page } from "../../page.tsx";
import { Button } from "../../parts/button.tsx";
import { Content } from "../../parts/column.tsx";
import { Field, Select } from "../../parts/field.tsx";
import { Form } from "../../parts/form.tsx";
import { Notice } from "../../parts/notice.tsx";
import { Picture, vesselOf } from "../../parts/picture.tsx";
import { Empty } from "../../parts/panel.tsx";
import { withSession } from "../../session.ts";

/** Choose a template, name it, create. */
export const newAppliancePage = factory.createApp().get("/appliances/new", withSession, (c) => showNew(c));

interface Offered {
  sets: readonly OfferedSet[];
  chosen: number | undefined;
}

export async function showNew(c: Context<WebEnv>): Promise<Response> {
  const listed = (await listTemplateSets(c.var.db)).filter(({ templates }) => templates.length > 0);
  const sets = await offered(c.var.db, listed);
  const sent = Number(c.var.given?.values["clone_from"]?.[0]);
  const chosen = sent || sets[0]?.templates[0]?.applianceId;
  const isPending = sets.some(({ templates }) => templates.some(({ importing }) => importing.length > 0));
  const refreshSeconds = isPending ? 15 : undefined;
  return await page(c, <New offered={{ sets, chosen }} />, {
    title: "New appliance",
    section: "appliances",
    refreshSeconds,
  });
}

/** Why the templates of a catalogue cannot be built yet. */
function pendingIn(missing: readonly Repository[]): string | undefined {
  const failed = missing.find(({ problem }) => problem !== null);
  if (failed) return `${failed.name} could not be imported: ${failed.problem}`;
  const importing = unimportedWords(missing);
  return importing && `Still being imported: ${importing}`;
}

const New = ({ offered }: { offered: Offered }) => (
  <Content>
    <div class="stack-l">
      <div class="first">
        <h1>Create an appliance</h1>
        <p class="lead quiet">Start from a system that works, then change it. Nothing is built until you say so.</p>
      </div>
      {offered.sets.length === 0 ? (
        <Empty title="There are no templates yet">
          <p>The people who run this service have not loaded any.</p>
        </Empty>
      ) : (
        <NewForm offered={offered} />
      )}
    </div>
  </Content>
);

const NewForm = ({ offered }: { offered: Offered }) => (
  <Form action="/appliances" id="new" class="stack-l" once>
    <fieldset class="stack">
      <legend class="as-h2">1. Choose a template</legend>
      {offered.sets.map((set) => (
        <TemplatesOf set={set} offered={offered} />
      ))}
    </fieldset>
    <fieldset class="stack">
      <legend class="as-h2">2. Name it</legend>
      <div class="fields narrow">
        <Field name="name" label="Name" hint="Leave it empty to use the template's." also={{ maxlength: 255 }} />
        <Select
          name="arch"
          label="Architecture"
          options={[
            ["x86_64", "x86_64"],
            ["i686", "i686"],
          ]}
        />
      </div>
    </fieldset>
    <div class="row">
      <Button look="primary large">Create appliance</Button>
      <span class="quiet">
        or <a href="/gallery">clone one from the gallery</a>
      </span>
    </div>
  </Form>
);

const TemplatesOf = ({ set, offered }: { set: OfferedSet; offered: Offered }) => {
  const notes = new Set(set.templates.flatMap(({ importing }) => pendingIn(importing) ?? []));
  return (
    <>
      <h2 class="as-h3 quiet">{set.description || set.name}</h2>
      {[...notes].map((words) => (
        <Notice tone="warn">{words}. You can begin now; it can be built when that is done.</Notice>
      ))}
      <div class="tiles wide-tiles">
        {set.templates.map((template) => (
          <Tile template={template} isChosen={template.applianceId === offered.chosen} />
        ))}
      </div>
    </>
  );
};

const Tile = ({ template, isChosen }: { template: OfferedSet["templates"][number]; isChosen: boolean }) => (
  <label class="tile template">
    <input type="radio" name="clone_from" value={String(template.applianceId)} checked={isChosen} required />
    <span class="row nowrap-row">
      <Picture src={vesselOf(template.applianceId)} look="small" />
      <span>
        <b>{template.name}</b>
        <br />
        <span class="sub">{template.description}</span>
      </span>
    </span>
  </label>
);
