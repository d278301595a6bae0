import type { ImageType } from "#contract/index";
import type { Appliance } from "#storage/appliances";
import { Button } from "../../../parts/button.tsx";
import { Field } from "../../../parts/field.tsx";
import { Form } from "../../../parts/form.tsx";
import { Icon } from "../../../parts/icon.tsx";
import type { IconName } from "../../../parts/icon-names.ts";
import { formatWords, formats } from "../formats.ts";
import { applianceAt } from "../with-appliance.ts";

const icons: Readonly<Record<ImageType, IconName>> = {
  oem: "usb",
  iso: "disc",
  vmx: "monitor",
  xen: "server",
  ec2: "cloud",
  net: "network",
  oemiso: "save",
};

/** A form that starts builds in several formats. */
export const NewBuild = ({ appliance }: { appliance: Appliance }) => (
  <section class="panel" aria-labelledby="new">
    <Form action={applianceAt(appliance.id, "builds")} id="new-build" class="stack" once>
      <div class="row spread">
        <h2 id="new">New build</h2>
        <div class="row">
          <Field name="version" label="Version" look="short num" value={appliance.version} />
          <Button look="primary" icon="hammer">
            Build
          </Button>
        </div>
      </div>
      <fieldset>
        <legend class="hidden">Formats</legend>
        <div class="tiles">
          {formats.map((format) => (
            <label class="tile">
              <input type="checkbox" name="image_type" value={format} checked={format === appliance.imageType} />
              <span>
                <code>{format}</code>
              </span>
              <Icon name={icons[format]} />
              <span class="hint">{formatWords[format]}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <label class="choice">
        <input type="checkbox" name="force" value="true" />{" "}
        <span>
          Replace an image of this version <span class="hint">Otherwise it is refused.</span>
        </span>
      </label>
    </Form>
  </section>
);
