import { Complaint } from "../launch/complaint.ts";
import { print, seconds } from "../launch/progress.ts";

/** One thing that deploy takes care of. Both functions may run any number of times, in any state that an interruption left. */
export type Step = {
  name: string;
  /** Whether nothing is to do. Changes nothing; false while something is missing that an earlier step makes. */
  isDone(): Promise<boolean>;
  do(): Promise<void>;
  /** Without it, later steps cannot be looked at. */
  opensTheRest?: true;
};

/** Does what is not done, in order. A step that does not take is a Complaint: the next run continues there. */
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
