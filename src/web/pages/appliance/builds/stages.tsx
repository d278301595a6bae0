import { phases, type Phase } from "#lib/contract/index";
import { Flame, Icon } from "../../../parts/icon.tsx";
import { duration } from "../../../parts/words.ts";

/** Short names of the stages, so that all of them fit next to each other. */
export const stageWords: Readonly<Record<Phase, string>> = {
  "Fetching appliance configuration": "Start",
  "Preparing the build": "Prepare",
  "Installing software": "Packages",
  "Configuring the system": "Configure",
  "Creating the image": "Image",
  "Compressing the image": "Pack",
  "Uploading the image": "Upload",
};

interface Step {
  phase: string;
  seconds: number;
}

/** The stages of a running build: those that are done, with their times, the current one, and those to come. */
export const Stages = ({ steps }: { steps: readonly Step[] }) => {
  const now = phases.findIndex((phase) => phase === steps.at(-1)?.phase);
  return (
    <ol class="build-stages" aria-label="Stages">
      {phases.map((phase, nth) => {
        // A stage may have been too short to be recorded.
        const step = steps.find((one) => one.phase === phase);
        const isDone = nth < now;
        return (
          <li aria-current={nth === now ? "step" : undefined} data-state={isDone ? "done" : undefined}>
            {nth === now ? <Flame /> : isDone && <Icon name="check" label="Done" />} {stageWords[phase]}
            {step && <span class="num quiet"> {lasted(step)}</span>}
          </li>
        );
      })}
    </ol>
  );
};

/** How long each stage of an ended build took. */
export const StageTimes = ({ steps }: { steps: readonly Step[] | null }) => (
  <ul class="build-stages">
    {phases.map((phase) => {
      const step = steps?.find((one) => one.phase === phase);
      return (
        step && (
          <li>
            {stageWords[phase]} <span class="num">{lasted(step)}</span>
          </li>
        )
      );
    })}
  </ul>
);

/** The last stage that a build reached. */
export const lastStage = (steps: readonly Step[] | null): string | undefined => {
  const last = phases.findLast((phase) => steps?.some((step) => step.phase === phase));
  return last && stageWords[last];
};

const lasted = ({ seconds }: Step): string => duration(Math.round(seconds));
