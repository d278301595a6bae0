import { productOf } from "#lib/contract/index";
import type { Build } from "#storage/builds";
import { Button } from "../../../parts/button.tsx";
import { TextArea } from "../../../parts/field.tsx";
import { Form, Hidden } from "../../../parts/form.tsx";
import { nameOf } from "./names.ts";

/** Starts a testdrive with data for cloud-init, so that one image becomes different machines. */
export const SeededTestdrive = ({ build }: { build: Build }) =>
  productOf(build.imageType).datasources.length === 0 ? null : (
    <details class="use">
      <summary>Testdrive with data for cloud-init</summary>
      <Form action="/testdrives" id={`seed-${build.id}`} class="stack" once>
        <Hidden fields={{ build_id: build.id }} />
        <p class="hint">
          The machine finds these texts on a disk, as in a cloud, and its own disk is 1 GiB larger than the image.
          Nothing stores them: after the end they are gone.
        </p>
        <TextArea
          name="user_data"
          label="User data"
          hint="Begins with #cloud-config, #! or another header of cloud-init. At most 32 KiB."
          look="mono"
          also={{ rows: 8, spellcheck: "false", placeholder: "#cloud-config\nhostname: desk1" }}
        />
        <TextArea
          name="meta_data"
          label="Meta data"
          hint="YAML, such as instance-id: desk1. Empty: an id for this testdrive."
          look="mono"
          also={{ rows: 2, spellcheck: "false" }}
        />
        <TextArea
          name="network_config"
          label="Network configuration"
          hint="YAML. Empty: DHCP."
          look="mono"
          also={{ rows: 2, spellcheck: "false" }}
        />
        <div class="row">
          <Button look="primary" icon="play" about={`of ${nameOf(build)}`}>
            Start the testdrive
          </Button>
        </div>
      </Form>
    </details>
  );
