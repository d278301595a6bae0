import { imageFormats, type ImageType, imageTypes } from "#contract/index";
import type { Appliance } from "#storage/appliances";
import { Button } from "../../../parts/button.tsx";
import { Choice, Field } from "../../../parts/field.tsx";
import { Form, useForm } from "../../../parts/form.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { applianceAt } from "../with-appliance.ts";

/** The id of the form that starts builds in several formats. */
export const newBuildForm = "new-build";

export const NewBuild = ({ appliance }: { appliance: Appliance }) => (
  <section class="panel" aria-labelledby="new">
    <Form action={applianceAt(appliance.id, "builds")} id={newBuildForm} class="stack" once>
      <div class="row spread">
        <h2 id="new">New build</h2>
        <div class="row">
          <Field name="version" label="Version" look="short num" value={appliance.version} />
          <Button look="primary" icon="hammer">
            Build
          </Button>
        </div>
      </div>
      <Formats chosen={appliance.imageType} />
      <Choice name="force" value="true" hint="Otherwise it is refused.">
        Replace an image of this version
      </Choice>
    </Form>
  </section>
);

const Formats = ({ chosen }: { chosen: ImageType }) => {
  const { given } = useForm();
  const checked = given?.values["image_type"] ?? [chosen];
  return (
    <fieldset>
      <legend class="hidden">Formats</legend>
      <div class="tiles">
        {imageTypes.map((format) => (
          <label class="tile">
            <input type="checkbox" name="image_type" value={format} checked={checked.includes(format)} />
            <span>
              <code>{format}</code>
            </span>
            <Icon name={imageFormats[format].icon} />
            <span class="hint">{imageFormats[format].label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
};
