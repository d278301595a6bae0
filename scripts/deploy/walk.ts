import { Complaint } from "../launch/complaint.ts";
import { print, seconds } from "../launch/progress.ts";

/** A step of a deployment. Both functions may run any number of times, in any state that an interruption left. */
export type Step = {
  name: string;
  /** Whether there is nothing left to do. Changes nothing. False while the result of an earlier step is missing. */
  isDone(): Promise<boolean>;
  do(): Promise<void>;
  /** Later steps cannot be checked until this one is done. */
  opensTheRest?: true;
};

/**
 * Runs the unfinished steps in order. A step that is still not done is a Complaint, and the next run continues there.
 */
export async function walk(steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if (await step.isDone()) {
      print(`  ${step.name}`);
      continue;
    }
    const startedAt = Date.now();
    print(`… ${step.name}`);
    await step.do();
    if (!(await step.isDone())) throw new Complaint(`${step.name}: still not done. Start npm run deploy again.`);
    print(`✓ ${step.name} (${seconds(Date.now() - startedAt)})`);
  }
}

/** Prints what `walk` would do. */
export async function showPlan(steps: readonly Step[]): Promise<void> {
  let isOpen = true;
  for (const step of steps) {
    if (!isOpen) {
      print(`  unknown   ${step.name}`);
      continue;
    }
    const isDone = await step.isDone();
    print(`  ${isDone ? "done    " : "to do   "}  ${step.name}`);
    isOpen = isDone || step.opensTheRest !== true;
  }
}
