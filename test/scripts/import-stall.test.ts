/** Uses a real service, because only there do D1, R2 and the Worker share one event loop with the network. */
import { createServer } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { ownPort } from "../../builder-agent/test/support/ports.ts";
import { adminClient } from "../../scripts/admin/client.ts";
import { bundleWorker } from "../../scripts/launch/bundle.ts";
import { startEmbedded } from "../../scripts/launch/embedded.ts";
import { readOrMakeSecrets } from "../../scripts/launch/secrets.ts";
import { rpmMd } from "../support/rpm-md.ts";

const port = ownPort(3);
const url = `http://127.0.0.1:${port}/api/v2/user`;
const packages = 12_000;
const files = rpmMd(Array.from({ length: packages }, (_, nth) => `package-${nth}-1 requires package-0`));
const mirror = createServer((request, response) => {
  const file = files[request.url?.slice(1) ?? ""];
  response.writeHead(file === undefined ? 404 : 200).end(file);
});

let service: Awaited<ReturnType<typeof startEmbedded>>;
let folder: string;
let host: string;
let headers: Record<string, string>;
beforeAll(async () => {
  await once(mirror.listen(0, "127.0.0.1"), "listening");
  host = `127.0.0.1:${z.object({ port: z.number() }).parse(mirror.address()).port}`;
  const stateDirectory = mkdtempSync(join(tmpdir(), "kiln-import-"));
  folder = stateDirectory;
  const secrets = readOrMakeSecrets(stateDirectory);
  service = await startEmbedded({
    bundle: await bundleWorker(),
    host: "127.0.0.1",
    port,
    stateDirectory,
    bindings: { ALLOW_HOSTS: host, ...secrets },
    outsideCidrs: ["127.0.0.1/32"],
  });
  const admin = adminClient(`http://127.0.0.1:${port}`, secrets.ADMIN_SECRET);
  const { username, apiKey } = await admin.addAccount({ username: "tux", email: "tux@example.org" });
  headers = { authorization: `Basic ${Buffer.from(`${username}:${apiKey}`).toString("base64")}` };
});
afterAll(async () => {
  await service.stop();
  mirror.close();
  rmSync(folder, { recursive: true, force: true });
});

it("answers other requests while a repository is imported", async () => {
  const state = { isOver: false };
  const importing = fetch(`${url}/repositories`, {
    method: "POST",
    headers: { ...headers, accept: "application/json" },
    body: new URLSearchParams({ name: "Large", url: `http://${host}` }),
  }).finally(() => (state.isOver = true));
  let answers = 0;
  for (; !state.isOver; answers++) await (await fetch(`${url}/appliances`, { headers })).arrayBuffer();

  expect(await (await importing).json()).toMatchObject({ repository: { name: "Large" } });
  // More than a hundred. It would be seven if the import did not pause.
  expect(answers).toBeGreaterThan(30);
});
