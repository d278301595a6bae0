import { GeneratedFile, sha256At, uploadOver } from "../test/acceptance/support/large-upload.ts";
import { restClient } from "../test/acceptance/support/rest.ts";
import { openTcpProxy } from "../test/acceptance/support/tcp-proxy.ts";
import { verdict, type Figure } from "./figure.ts";
import { memoryMib, resetPeak, workerdOf } from "./memory.ts";
import { cloneJeos, type Place } from "./place.ts";

const gib = 2;
const barMib = 32;
const cuts = { everyBytes: 200_000_000, times: 5 };
const chunkSize = 50_000_000;

/** workerd's memory while a user sends 2 GiB by tus over a connection that is cut five times; the file must arrive bit for bit. */
export async function measureLargeUpload(place: Place): Promise<Figure[]> {
  const service = await place.start(["--no-agent"]);
  const ready = service.ready();
  const client = restClient(ready);
  using proxy = await openTcpProxy(ready.url);
  try {
    const file = new GeneratedFile(gib * 2 ** 30);
    const pid = workerdOf(service.stateDir);
    const idleMib = memoryMib(pid, "VmRSS");
    // The first upload loads the code, and makes V8's heaps grow to their usual size.
    await uploadOver(proxy, ready, new GeneratedFile(20 * 2 ** 20), {
      query: { appliance_id: await cloneJeos(client), path: "/first" },
      chunkSize,
      cuts: { everyBytes: 0, times: 0 },
    });
    const query = { appliance_id: await cloneJeos(client), path: "/srv" };
    const beforeMib = memoryMib(pid, "VmRSS");
    resetPeak(pid);
    const startedAt = performance.now();
    const { url } = await uploadOver(proxy, ready, file, { query, chunkSize, cuts });
    place.say(`${gib} GiB in ${((performance.now() - startedAt) / 1000).toFixed(0)} s, cut ${proxy.cuts()} times`);
    const peakMib = memoryMib(pid, "VmHWM");
    if (proxy.cuts() !== cuts.times) throw new Error(`the connection was cut ${proxy.cuts()} times`);
    const { upload } = await client.call("GET", new URL(url).pathname.replace("/api/v2/user", ""));
    const arrived = await sha256At(`${ready.url}/api/v2/user/files/${upload.file_id}/data`, ready);
    if (arrived !== file.sha256()) throw new Error("another file arrived");
    return [
      figure({ what: "", beforeMib, peakMib, barMib }),
      figure({ what: ", and the first upload of the process before it", beforeMib: idleMib, peakMib }),
    ];
  } finally {
    await service.stop();
  }
}

interface Growth {
  what: string;
  beforeMib: number;
  peakMib: number;
  barMib?: number;
}

const figure = ({ what, beforeMib, peakMib, barMib }: Growth): Figure => ({
  what: `Worker memory (workerd's resident peak) during a ${gib} GiB upload by tus, cut ${cuts.times} times${what}`,
  ours: `${peakMib.toFixed(0)} MiB`,
  against: `${beforeMib.toFixed(0)} MiB before`,
  ratio: `+${(peakMib - beforeMib).toFixed(0)} MiB`,
  bar: barMib === undefined ? "reported" : `≤ +${barMib} MiB`,
  verdict: barMib === undefined ? "reported" : verdict(peakMib - beforeMib <= barMib),
});
