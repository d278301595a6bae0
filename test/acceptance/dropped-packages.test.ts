import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { serveFiles } from "./support/local-build.ts";
import { buildRpm } from "./support/rpm.ts";
import { restClient } from "./support/rest.ts";
import { startService, type Service } from "./support/service.ts";

// A mirror drops a package between two builds of one appliance. The agent caches nothing, so the second build depends on what
// the service has stored.

const withoutCaches = { KILN_AGENT_PACKAGE_CACHE_GB: "0", KILN_AGENT_PREPARED_GB: "0" };
let folder: string;
let mirror: Awaited<ReturnType<typeof serveFiles>>;
let service: Service;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "kiln-mirror-"));
  buildRpm(folder, "foreign-note");
  execFileSync("createrepo_c", ["--quiet", join(folder, "out")]);
  mirror = await serveFiles(join(folder, "out"));
  service = await startService(["--allow-host", new URL(mirror.url).host], {}, withoutCaches);
});

afterAll(async () => {
  await service?.stop();
  mirror?.[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

it("builds again with a package that its mirror has dropped", async () => {
  const tux = restClient(service.ready());
  const { appliance } = await tux.call("POST", "/appliances", { clone_from: 1, arch: "x86_64" });
  const { repository } = await tux.call("POST", "/repositories", { url: mirror.url, name: "Elsewhere" });
  await tux.call("POST", `/appliances/${appliance.id}/cmd/add_repository`, { repo_id: repository.id });
  await tux.call("POST", `/appliances/${appliance.id}/cmd/add_package`, { name: "foreign-note" });
  const built = async () => {
    const params = { appliance_id: appliance.id, image_type: "oem", force: "true" };
    const { build } = await tux.call("POST", "/running_builds", params);
    return (await tux.watchBuild(build.id, 400)).at(-1);
  };

  expect(await built()).toMatchObject({ state: "finished" });
  const packages = join(folder, "out", "noarch");
  for (const name of readdirSync(packages)) rmSync(join(packages, name));
  expect(existsSync(join(folder, "out", "repodata"))).toBe(true);

  expect(await built()).toMatchObject({ state: "finished" });
}, 600_000);
