import { join } from "node:path";
import { restClient, type RestClient } from "../test/acceptance/support/rest.ts";
import { buildBare, keepDescription, untilEmpty } from "./build.ts";
import { verdict, type Figure } from "./figure.ts";
import { cloneJeos, finished, type Place } from "./place.ts";
import { median, spread } from "./statistics.ts";

const rounds = 3;
const bar = 0.6;

/** Another format of a version that is there: POST with multi=true → finished, against bare KIWI from the packages on. */
export async function measureMulti(place: Place): Promise<Figure[]> {
  const service = await place.withAgent();
  const client = restClient(service.ready());
  const applianceId = await cloneJeos(client);
  const folder = place.folder();
  const kept = join(folder, "kept");
  const work = join(service.stateDir, "agent/work");
  // The first build, as oem. KIWI's description of a vmx is the same.
  await keepDescription(client, { applianceId, work, to: kept });

  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    await untilEmpty(work);
    bare.push(await buildBare(kept, folder, "vmx"));
    ours.push(await buildAgain(client, applianceId));
    place.say(`round ${round}: ${ours.at(-1)?.toFixed(1)} s and ${bare.at(-1)?.toFixed(1)} s`);
  }
  const ratio = median(ours) / median(bare);
  return [
    {
      what: "a second format (vmx after oem) with multi=true: POST → finished",
      ours: spread(ours, 1, " s"),
      against: spread(bare, 1, " s"),
      ratio: ratio.toFixed(3),
      bar: `≤ ${bar.toFixed(2)}`,
      verdict: verdict(ratio <= bar),
    },
  ];
}

async function buildAgain(client: RestClient, applianceId: string): Promise<number> {
  const startedAt = performance.now();
  const asked = { appliance_id: applianceId, image_type: "vmx", multi: "true", force: 1 };
  const { build } = await client.call("POST", "/running_builds", asked);
  await finished(client, build.id);
  return (performance.now() - startedAt) / 1000;
}
