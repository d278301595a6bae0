import { imageFormats, type ImageType } from "#lib/contract/index";
import type { Look } from "#domain/appliances/look";
import { fieldId } from "../../../given.ts";
import { Button } from "../../../parts/button.tsx";
import { Choice, Field } from "../../../parts/field.tsx";
import { Form, Hidden, useForm } from "../../../parts/form.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { NotOffered, offeredTypes } from "./offered-types.tsx";
import { applianceAt } from "../with-appliance.ts";

/** The id of the form that starts builds in several formats. */
export const newBuildForm = "new-build";

export const NewBuild = ({ look: { appliance, base } }: { look: Look }) => (
  <section class="panel" aria-labelledby="new">
    <Form action={applianceAt(appliance.id, "builds")} id={newBuildForm} class="stack" once>
      <AddRepository applianceId={appliance.id} />
      <div class="row spread">
        <h2 id="new">New build</h2>
        <div class="row">
          <Field name="version" label="Version" look="short num" value={appliance.version} />
          <Button look="primary" icon="hammer">
            Build
          </Button>
        </div>
      </div>
      <Formats chosen={appliance.imageType} base={base} />
      <Choice name="force" value="true" hint="Otherwise it is refused.">
        Replace an image of this version
      </Choice>
    </Form>
  </section>
);

/** A button of the refused form for a repository that the appliance lacks. It discards the chosen formats. */
const AddRepository = ({ applianceId }: { applianceId: number }) => {
  const { given } = useForm();
  return given?.repository === undefined ? null : (
    <div>
      <Hidden fields={{ do: "use", repository: given.repository }} />
      <button class="button small" formaction={applianceAt(applianceId, "software/repositories")}>
        Add the repository
      </button>
    </div>
  );
};

const Formats = ({ chosen, base }: { chosen: ImageType; base: Look["base"] }) => {
  const form = useForm();
  const { given } = form;
  const checked = given ? (given.values["image_type"] ?? []) : [chosen];
  const fault = given?.faults["image_type"];
  const id = fieldId(form, "image_type");
  return (
    <fieldset id={id} tabindex={-1} aria-describedby={fault !== undefined && `${id}-wrong`}>
      <legend class="hidden">Formats</legend>
      <div class="tiles">
        {offeredTypes(base).map((format) => (
          <label class="tile">
            <input type="checkbox" name="image_type" value={format} checked={checked.includes(format)} />
            <span>{imageFormats[format].label}</span>
            <Icon name={imageFormats[format].icon} />
            <code class="hint">{format}</code>
          </label>
        ))}
      </div>
      {fault !== undefined && (
        <span class="wrong" id={`${id}-wrong`}>
          <Icon name="circle-x" /> {fault}
        </span>
      )}
      <NotOffered base={base} />
    </fieldset>
  );
};
