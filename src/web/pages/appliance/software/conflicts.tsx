import type { SoftwareChange } from "#domain/software/change";
import { Button } from "../../../parts/button.tsx";
import { Form } from "../../../parts/form.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { applianceAt } from "../with-appliance.ts";
import type { ShownSoftware } from "./shown.ts";

/** Why the software does not resolve, with a button for each solution. */
export const Conflicts = ({ seen: { appliance, now } }: { seen: ShownSoftware }) => (
  <div id="conflicts" class="stack">
    {now.problems.map(({ text, solutions }) => (
      <section class="notice" data-tone="bad">
        <Icon name="circle-x" />
        <div>
          <p class="breaks">{text}</p>
          <div class="solutions">
            {solutions.map((solution) => (
              <Form action={applianceAt(appliance.id, "software/solve")}>
                <ChangeFields change={solution.change} />
                <Button look="small">{capitalised(solution.text)}</Button>
              </Form>
            ))}
          </div>
        </div>
      </section>
    ))}
  </div>
);

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A change as the fields of a form; the action reads them by the same names. */
const ChangeFields = ({ change }: { change: SoftwareChange }) => (
  <>
    {Object.entries(change).flatMap(([name, values]: [string, readonly (string | number)[]]) =>
      values.map((value) => <input type="hidden" name={name} value={String(value)} />),
    )}
  </>
);
