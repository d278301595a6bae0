import type { StatedAdvisory } from "#domain/advisories/of-build";
import type { VexJustification } from "#lib/advisories/vex";
import type { Build } from "#storage/builds";
import type { VexStatement } from "#storage/vex-statements";
import { ActionButton, Button } from "../../../parts/button.tsx";
import { Select, Suggesting, TextArea } from "../../../parts/field.tsx";
import { FaultsOf, Form, Hidden, useAnyRefused, useRefused } from "../../../parts/form.tsx";
import { applianceAt } from "../with-appliance.ts";
import { nameOf } from "./names.ts";

const justificationWords: Readonly<Record<VexJustification, string>> = {
  component_not_present: "The component is not in the image",
  vulnerable_code_not_present: "The vulnerable code is not in the image",
  vulnerable_code_not_in_execute_path: "The vulnerable code is never run",
  vulnerable_code_cannot_be_controlled_by_adversary: "An attacker cannot control the vulnerable code",
  inline_mitigations_already_exist: "The image prevents it in another way",
};

const reasons = [...Object.entries(justificationWords), ["under_investigation", "I am examining it"] as const];

const wordsOf = ({ status, justification }: VexStatement): string =>
  status === "under_investigation" || justification === null
    ? "You are examining it"
    : `Not affected: ${justificationWords[justification]}`;

const vexAt = (applianceId: number, build: Build): string => `${applianceAt(applianceId, "builds")}/${build.id}/vex`;

interface StatementProps {
  applianceId: number;
  build: Build;
  statement: VexStatement;
}

/** The owner's statement about an advisory, and a button that withdraws it. */
export const Statement = ({ applianceId, build, statement }: StatementProps) => (
  <div class="small-text breaks">
    {wordsOf(statement)}. {statement.text}{" "}
    <ActionButton
      action={vexAt(applianceId, build)}
      showsFaults={false}
      fields={{ do: "withdraw", advisory: statement.advisory, scope: statement.buildId === 0 ? "appliance" : "image" }}
      look="small plain"
      icon="x"
      about={`the statement about ${statement.advisory}`}
    >
      Withdraw
    </ActionButton>
  </div>
);

/** The faults of a refused withdrawal. It is above the list, which may show one statement several times. */
export const WithdrawFaults = ({ applianceId, build }: Omit<StatementProps, "statement">) => (
  <FaultsOf action={vexAt(applianceId, build)} shown={[vexForm(build)]} />
);

interface FormProps {
  applianceId: number;
  build: Build;
  advisories: readonly StatedAdvisory[];
}

const vexForm = (build: Build): string => `vex-${build.id}`;

/** Whether a statement or its withdrawal was refused. Then everything around it must be open. */
export const useVexRefused = (applianceId: number, build: Build): boolean => useAnyRefused(vexAt(applianceId, build));

/** A form that states why an advisory does not concern an image. */
export const StatementForm = ({ applianceId, build, advisories }: FormProps) => (
  <details class="use" open={useRefused(vexAt(applianceId, build), vexForm(build))}>
    <summary>State that an image is not affected</summary>
    <Form action={vexAt(applianceId, build)} id={vexForm(build)} class="stack">
      <Hidden fields={{ do: "state" }} />
      <Suggesting
        name="advisory"
        label="Advisory"
        look="auto"
        required
        also={{ maxlength: 64, size: 24 }}
        suggestions={[...new Set(advisories.flatMap(({ id, aliases }) => [id, ...aliases]))].map((id) => [id, ""])}
      />
      <Select name="reason" label="Reason" options={reasons} />
      <TextArea
        name="text"
        label="Explanation"
        hint="At most 1000 characters. Everyone who may read the image sees it in the signed VEX document."
        required
        also={{ maxlength: 1000, rows: 3 }}
      />
      <Select
        name="scope"
        label="About"
        options={[
          ["image", `only ${nameOf(build)}`],
          ["appliance", "all images of the appliance"],
        ]}
      />
      <div class="row">
        <Button look="small" icon="check">
          State it
        </Button>
      </div>
    </Form>
  </details>
);
