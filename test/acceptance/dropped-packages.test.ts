import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { packageFile } from "../../builder-agent/src/packages/package-file.ts";
import { fetchPackages } from "../../builder-agent/src/packages/package-files.ts";
import { StoredPackageFiles } from "../../builder-agent/src/packages/stored-packages.ts";
import { connectWorker } from "../../builder-agent/src/worker-api.ts";
import { readSecrets } from "../../scripts/launch/secrets.ts";
import { serveFiles } from "./support/local-build.ts";
import { buildRpm } from "./support/rpm.ts";
import { restClient, type RestClient } from "./support/rest.ts";
import { startService, until, type Service } from "./support/service.ts";

// A mirror drops a package between two builds of one appliance. The agent's own code fetches their packages from a real
// service. There is no cache and no KIWI.

let folder: string;
let mirror: Awaited<ReturnType<typeof serveFiles>>;
let service: Service;
let tux: RestClient;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "kiln-mirror-"));
  buildRpm(folder, "foreign-note");
  execFileSync("createrepo_c", ["--quiet", join(folder, "out")]);
  mirror = await serveFiles(join(folder, "out"));
  service = await startService(["--no-agent", "--allow-host", new URL(mirror.url).host]);
  tux = restClient(service.ready());
});

afterAll(async () => {
  await service?.stop();
  mirror?.[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function applianceWithNote(): Promise<string> {
  const { appliance } = await tux.call("POST", "/appliances", { clone_from: 1, arch: "x86_64" });
  const { repository } = await tux.call("POST", "/repositories", { url: mirror.url, name: "Elsewhere" });
  await tux.call("POST", `/appliances/${appliance.id}/cmd/add_repository`, { repo_id: repository.id });
  await tux.call("POST", `/appliances/${appliance.id}/cmd/add_package`, { name: "foreign-note" });
  return appliance.id;
}

/**
 * Fetches the packages of a new build, sends them to the service, and fails the build. Returns the file that lists
 * them.
 */
async function fetchedNote(applianceId: string, dir: string): Promise<Buffer> {
  mkdirSync(dir);
  await tux.call("POST", "/running_builds", { appliance_id: applianceId, image_type: "oem", force: "true" });
  const { url } = service.ready();
  const { signal } = new AbortController();
  const api = connectWorker({ url, token: readSecrets(service.stateDir).AGENT_TOKEN ?? "" });
  const can = { arches: ["x86_64" as const], imageTypes: ["oem" as const], isolation: "none" as const };
  const capabilities = { ...can, testdrives: false, builder: "9.24.56" };
  const claim = await until("there is a build", 30, () => api.claimBuild(capabilities, signal));
  const { buildId, token, input } = claim;
  const lease = { id: buildId, token };
  const reach = { url, credentials: api.credentials(lease), allowHosts: [new URL(mirror.url).host] };
  const notes: string[] = [];
  await using stored = new StoredPackageFiles({ api, lease, signal, onNote: (note) => void notes.push(note) });
  await fetchPackages({ input, dir, reach, stored, signal, onProgress: () => {} });
  stored.give(input, dir);
  await stored.sent();
  expect(notes).toEqual([]);
  await api.fail(lease, { kind: "failed", reason: "a test" }, signal);
  const note = input.packages.find(({ name }) => name === "foreign-note") ?? expect.fail("it has no note");
  return readFileSync(join(dir, packageFile(note)));
}

it("gives a build the package that its mirror has dropped", async () => {
  const applianceId = await applianceWithNote();
  const first = await fetchedNote(applianceId, join(folder, "first"));

  const packages = join(folder, "out", "noarch");
  for (const name of readdirSync(packages)) rmSync(join(packages, name));

  expect(Buffer.compare(await fetchedNote(applianceId, join(folder, "second")), first)).toBe(0);
});
