import type { SoftwareChange } from "#domain/software/change";
import type { EffectProblem, Solution } from "#domain/software/effect";
import { Button } from "../../../parts/button.tsx";
import { Form } from "../../../parts/form.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { applianceAt } from "../with-appliance.ts";
import type { ShownSoftware } from "./shown.ts";
import { solutionWords } from "./words.ts";

/** Why the software does not resolve, with a button for each solution. */
export const Conflicts = ({ seen: { appliance, now } }: { seen: ShownSoftware }) => (
  <div id="conflicts" class="conflicts stack-s">
    {now.problems.map((problem) => (
      <section class="notice" data-tone="bad">
        <Icon name="circle-x" />
        <div>
          <p class="breaks">{problem.words}</p>
          <div class="solutions">
            {waysOut(problem).map(({ change }) => (
              <Form action={applianceAt(appliance.id, "software/solve")} swap="main">
                <ChangeFields change={change} />
                <Button look="small">{solutionWords({ change })}</Button>
              </Form>
            ))}
          </div>
        </div>
      </section>
    ))}
  </div>
);

/** libsolv may propose the same change several times, for different reasons. */
const waysOut = ({ solutions }: EffectProblem): Solution[] =>
  solutions.filter((one, at) => solutions.findIndex((each) => solutionWords(each) === solutionWords(one)) === at);

/** A change as the fields of a form. The action reads them by the same names. */
const ChangeFields = ({ change }: { change: SoftwareChange }) => (
  <>
    {Object.entries(change).flatMap(([name, values]: [string, readonly (string | number)[]]) =>
      values.map((value) => <input type="hidden" name={name} value={String(value)} />),
    )}
  </>
);
