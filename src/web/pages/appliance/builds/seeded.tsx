import { productOf } from "#lib/contract/index";
import type { Refusal } from "#domain/refusal";
import type { SentSeed } from "#domain/testdrives/seed";
import type { Build } from "#storage/builds";
import { Button } from "../../../parts/button.tsx";
import { TextArea } from "../../../parts/field.tsx";
import { Form, Hidden, useRefused } from "../../../parts/form.tsx";
import { nameOf } from "./names.ts";

interface Text {
  name: keyof SentSeed;
  label: string;
  hint: string;
  rows: number;
  placeholder?: string;
}

export const testdrivesPath = "/testdrives";

export const seedForm = (buildId: number): string => `seed-${buildId}`;

const texts: readonly Text[] = [
  {
    name: "user_data",
    label: "User data",
    hint: "Begins with #cloud-config, #! or another header of cloud-init, or is JSON for Ignition. At most 32 KiB.",
    rows: 8,
    placeholder: "#cloud-config\nhostname: desk1",
  },
  {
    name: "meta_data",
    label: "Meta data",
    hint: "For cloud-init, in YAML, such as instance-id: desk1. Empty: an id for this testdrive.",
    rows: 2,
  },
  { name: "network_config", label: "Network configuration", hint: "For cloud-init, in YAML. Empty: DHCP.", rows: 2 },
];

/** A message for each text that was refused. */
export const faultsOfSeed = ({ faults }: Refusal): Record<string, string> =>
  Object.fromEntries(
    texts.flatMap(({ name, label }) =>
      faults.filter(({ path }) => path === name).map(({ why }) => [name, `${label}: ${why}.`]),
    ),
  );

/** Starts a testdrive with data for its first boot, so that one image becomes different machines. */
export const SeededTestdrive = ({ build }: { build: Build }) =>
  productOf(build.imageType).datasources.length === 0 ? null : (
    <details class="use" open={useRefused(testdrivesPath, seedForm(build.id))}>
      <summary>Testdrive with data for cloud-init or Ignition</summary>
      <Form action={testdrivesPath} id={seedForm(build.id)} class="stack" once>
        <Hidden fields={{ build_id: build.id }} />
        <p class="hint">
          cloud-init finds these texts on a disk, and Ignition where QEMU offers them. The machine's own disk is 1 GiB
          larger than the image. Nothing stores them: after the end they are gone.
        </p>
        {texts.map(({ rows, placeholder, ...field }) => (
          <TextArea {...field} look="mono" also={{ rows, spellcheck: "false", placeholder }} />
        ))}
        <div class="row">
          <Button look="primary" icon="play" about={`of ${nameOf(build)}`}>
            Start the testdrive
          </Button>
        </div>
      </Form>
    </details>
  );
