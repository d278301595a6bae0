/** `npm run bench -- stall`: how long a cheap request of another account waits while something costly runs. */
import { setTimeout as sleep } from "node:timers/promises";
import { restClient } from "../../test/acceptance/support/rest.ts";
import { type Figure, type Measurement, verdict } from "../figure.ts";
import { workerdOf } from "../memory.ts";
import { jeosTemplate, type Place } from "../place.ts";
import { median } from "../statistics.ts";
import { archives } from "./archives.ts";
import { backup } from "./backup.ts";
import { clients } from "./clients.ts";
import { downloads } from "./downloads.ts";
import { drafts } from "./drafts.ts";
import { debian } from "./import.ts";
import { pictures } from "./pictures.ts";
import { plan } from "./plan.ts";
import { type Answered, startProbe } from "./probe.ts";
import { authorizationOf, counted, newAccount, openStage, type Scenario, type Stage } from "./scenario.ts";
import { searches } from "./searches.ts";
import { users } from "./users.ts";

const medianMs = 100;
const mostMs = 500;
const quietMs = 3_000;
/** Work may continue after the last answer. */
const afterMs = 1_000;
const warmUps = 20;

const scenarios: Scenario[] = [users, archives, pictures, searches, drafts, plan, clients, downloads, debian, backup];

export const stall: Measurement[] = scenarios.map((scenario) => ({
  name: `stall/${scenario.name}`,
  run: (place) => measure(place, scenario),
}));

async function measure(place: Place, scenario: Scenario): Promise<Figure[]> {
  const stage = await openStage(place, scenario);
  try {
    const load = await scenario.prepare(stage);
    const start = await probeOf(stage);
    const quiet = await during(start, () => sleep(quietMs));
    place.say(`quiet: ${spoken(quiet.answers)}`);
    const loaded = await during(start, async () => {
      const value = await load();
      await sleep(afterMs);
      return value;
    });
    const { seen, figures } = typeof loaded.value === "string" ? { seen: loaded.value, figures: [] } : loaded.value;
    place.say(`loaded: ${spoken(loaded.answers)}; the load: ${seen}`);
    return [figure(scenario, quiet.answers, loaded.answers, seen), ...figures];
  } finally {
    await stage.service.stop();
  }
}

/** A probe of another account with one appliance, from an address that no one else uses. */
async function probeOf(stage: Stage) {
  const other = await newAccount(stage, "ada");
  const client = restClient(other);
  await client.call("POST", "/appliances", { clone_from: await jeosTemplate(client), arch: "x86_64" });
  for (let n = 0; n < warmUps; n++) await client.call("GET", "/appliances");
  return () =>
    startProbe({
      url: `${other.url}/api/v2/user/appliances`,
      authorization: authorizationOf(other),
      pid: workerdOf(stage.service.stateDir),
      localAddress: "127.0.0.9",
    });
}

async function during<T>(start: () => () => Promise<Answered[]>, work: () => Promise<T>) {
  const end = start();
  const value = await work();
  return { value, answers: await end() };
}

/** Subtracts the waits that other programs cause, because they are not the service's. */
const waits = (answers: readonly Answered[]): number[] => answers.map(({ ms, othersMs }) => ms - othersMs);

function spoken(answers: readonly Answered[]): string {
  const clock = answers.map(({ ms }) => ms);
  const [own, statuses] = [waits(answers), counted(answers.map(({ status }) => status))];
  return `median ${median(own).toFixed(0)} ms, longest ${Math.max(...own).toFixed(0)} ms (${Math.max(...clock).toFixed(0)} ms by the clock); ${statuses}`;
}

function figure({ what }: Scenario, quiet: Answered[], loaded: Answered[], seen: string): Figure {
  const own = waits(loaded);
  const isAnswered = loaded.every(({ status }) => status === 200);
  return {
    what: `a request of another account during ${what}`,
    ours: `${spoken(loaded)}`,
    against: `quiet: median ${median(waits(quiet)).toFixed(0)} ms, longest ${Math.max(...waits(quiet)).toFixed(0)} ms; the load: ${seen}`,
    ratio: `${median(own).toFixed(0)} ms, ${Math.max(...own).toFixed(0)} ms`,
    bar: `≤ ${medianMs} ms, ≤ ${mostMs} ms`,
    verdict: verdict(isAnswered && median(own) <= medianMs && Math.max(...own) <= mostMs),
  };
}
