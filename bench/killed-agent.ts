import { existsSync } from "node:fs";
import { join } from "node:path";
import { restClient, type RestClient } from "../test/acceptance/support/rest.ts";
import type { Service } from "../test/acceptance/support/service.ts";
import { verdict, type Figure } from "./figure.ts";
import { cloneJeos, postBuild, type Place } from "./place.ts";
import { median, spread } from "./statistics.ts";
import { waitUntil } from "./wait.ts";

const rounds = 3;
const barSeconds = 60;

/** The time from killing the agent while KIWI installs, until KIWI installs again under the restarted agent. */
export async function measureKilledAgent(place: Place): Promise<Figure[]> {
  const service = await place.withAgent();
  const client = restClient(service.ready());
  const applianceId = await cloneJeos(client);
  const took: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    took.push(await killOnce(service, client, applianceId));
    place.say(`round ${round}: ${took.at(-1)?.toFixed(1)} s`);
  }
  return [
    {
      what: "agent killed during a build → KIWI at work again, same agent restarted",
      ours: spread(took, 1, " s"),
      against: "–",
      ratio: `${median(took).toFixed(1)} s`,
      bar: `≤ ${barSeconds} s`,
      verdict: verdict(median(took) <= barSeconds),
    },
  ];
}

async function killOnce(service: Service, client: RestClient, applianceId: string): Promise<number> {
  const buildId = await postBuild(client, applianceId);
  await untilInstalling(service, client, { buildId, attempt: 1 });
  const { agent_pid: pid } = service.ready();
  if (pid === null) throw new Error("there is no agent");
  const killedAt = performance.now();
  process.kill(pid, "SIGKILL");
  await untilInstalling(service, client, { buildId, attempt: 2 });
  const seconds = (performance.now() - killedAt) / 1000;
  await client.call("DELETE", `/running_builds/${buildId}`);
  return seconds;
}

/** Checks the API and KIWI's directory of this attempt, because the API still reports the killed attempt for a while. */
function untilInstalling(service: Service, client: RestClient, of: { buildId: string; attempt: number }) {
  const root = join(service.stateDir, "agent/work", `build-${of.buildId}-${of.attempt}`, "root");
  return waitUntil(`attempt ${of.attempt} installs`, { seconds: 180, everyMs: 50 }, async () => {
    if (!existsSync(root)) return false;
    const { running_build: build } = await client.call("GET", `/running_builds/${of.buildId}`);
    return build.state === "running" && /^(Downloading|Installing) software/.test(build.message);
  });
}
