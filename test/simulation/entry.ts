/** The simulation itself, as `bundle.ts` bundles it. Prints one line of JSON for each result. */
// oxlint-disable-next-line import/no-unassigned-import -- it replaces globals
import "./runtime/globals.ts";
// oxlint-disable-next-line import/no-unassigned-import -- it adds globals
import "./runtime/workerd.ts";
import { planOf, shrink } from "./plan.ts";
import { Service } from "./runtime/service.ts";
import type { Order, Outcome, Report, Step } from "./report.ts";
import { World } from "./world.ts";

const order = JSON.parse(process.argv[2] ?? "") as Order;
const print = (report: Report): void => void process.stdout.write(`${JSON.stringify(report)}\n`);

const service = new Service(order.migrations);
let story: World | undefined;
for (const name of ["log", "error", "warn"] as const)
  console[name] = (...said: unknown[]) => story?.record(said.map(String).join(" ").slice(0, 600));

const run = async (seed: number, plan: readonly Step[]): Promise<Outcome> => {
  story = new World(service);
  return await story.run(seed, plan);
};

for (let seed = order.seed; seed < order.seed + order.seeds; seed += 1) {
  const plan = order.plan ?? planOf(seed);
  const outcome = await run(seed, plan);
  const { violation } = outcome;
  if (!violation) {
    print({ seed, ...outcome, story: order.wantsStory ? outcome.story : [] });
    continue;
  }
  const isSame = async (shorter: readonly Step[]) => (await run(seed, shorter)).violation?.check === violation.check;
  const least = order.shrinks ? await shrink(plan, isSame) : plan;
  print({ seed, ...(await run(seed, least)), plan: [...least] });
  if (order.stopsAtFirst) break;
}
process.exit();
