import { beforeAll, expect, it } from "vitest";
import { GeneratedFile, sha256At, uploadOver } from "./support/large-upload.ts";
import { restClient, type RestClient } from "./support/rest.ts";
import type { Ready } from "./support/service.ts";
import { addAccount, sharedService } from "./support/shared-service.ts";
import { openTcpProxy } from "./support/tcp-proxy.ts";

const mebibyte = 2 ** 20;

let tux: Ready;
let client: RestClient;

beforeAll(async () => {
  tux = await addAccount(await sharedService("without-agent"), "large-upload");
  client = restClient(tux);
});

// `npm run bench -- large-upload` sends 2 GiB, and measures memory.
it("brings a file of tus-js-client over a connection that is cut five times, bit for bit", async () => {
  const { appliance } = await client.call("POST", "/appliances", { clone_from: 1, arch: "x86_64" });
  const file = new GeneratedFile(64 * mebibyte + 11);
  using proxy = await openTcpProxy(tux.url);

  const query = { appliance_id: appliance.id, path: "/srv" };
  const cuts = { everyBytes: 9 * mebibyte, times: 5 };
  const { url, lastResponse } = await uploadOver(proxy, tux, file, { query, chunkSize: 30_000_000, cuts });

  expect(proxy.cuts()).toBe(5);
  expect(lastResponse.getStatus()).toBe(204);
  const { upload } = await client.call("GET", new URL(url).pathname.replace("/api/v2/user", ""));
  const { file: stored } = await client.call("GET", `/files/${upload.file_id}`);
  expect(stored).toMatchObject({ filename: "large.bin", path: "/srv", size: String(file.size) });
  expect(await sha256At(stored.download_url, tux)).toBe(file.sha256());
});
