import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { publishLog, type LogSource } from "#domain/log/publish-log";
import { signingKey } from "#domain/builds/attestation-keys";
import { findCheckpoint } from "#storage/log-files";

const empty: LogSource = {
  size: 0,
  entries: () => [],
  hashes: () => [],
  nodeAt: () => expect.fail("an empty log has no nodes"),
};

it.each([
  ["a service without an address by its key", "", async () => `urn:kiln:service:${(await signingKey(env)).id}`],
  ["a service by its address", "https://kiln.example.org/", async () => "kiln.example.org/log"],
  ["a service below a path", "https://example.org/kiln//", async () => "example.org/kiln/log"],
])("names the log of %s", async (_, baseUrl, origin) => {
  await env.BLOBS.delete((await env.BLOBS.list()).objects.map(({ key }) => key));
  await publishLog({ ...env, BASE_URL: baseUrl }, empty);
  expect((await findCheckpoint(env.BLOBS))?.note.split("\n")[0]).toBe(await origin());
});
