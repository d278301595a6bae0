import { createServer } from "node:http";
import { startEmbedded } from "../../scripts/launch/embedded.ts";
import { tinyBundle } from "./tiny-service.ts";

// Runs in a network namespace that has these addresses. Prints a service's answers to requests for each of them.

const [folder = "", ...addresses] = process.argv.slice(2);
const port = 8787;
const mirrorPort = 80;

await Promise.all(
  addresses.map(async (host) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    createServer((_, answer) => answer.end()).listen(mirrorPort, host, resolve);
    await promise;
  }),
);
const place = { host: "127.0.0.1", port, stateDirectory: folder };
const bundle = { bundle: tinyBundle(folder), modulesFolder: folder };
const [opened = ""] = addresses;
const service = await startEmbedded({ ...bundle, ...place, bindings: {}, outsideCidrs: [`${opened}/32`] });
const statusOf = async (by: string, host: string) => {
  const to = `http://${host.includes(":") ? `[${host}]` : host}:${mirrorPort}/`;
  return (await fetch(`http://127.0.0.1:${port}/?by=${by}&to=${encodeURIComponent(to)}`)).status;
};
const statuses: Record<string, readonly number[]> = {};
for (const host of addresses)
  statuses[host] = [await statusOf("OUTSIDE", host), await statusOf("OUTSIDE_LISTED", host)];
await service.stop();
process.stdout.write(`${JSON.stringify(statuses)}\n`, () => process.exit());
