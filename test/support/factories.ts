import type { BuildFinished } from "#lib/contract/index";
import { loadTemplates } from "./catalogue.ts";
import type { Client } from "./client.ts";
import type { StoreBytes } from "./file-store.ts";
import { bytesOf, fakeAgent, type FakeAgent } from "./fake-agent.ts";
import { readXml } from "./xml.ts";

let templates: Promise<void> | undefined;
let templatesOf: unknown;
const file = globalThis as { kilnFile?: number };

/** A clone of the plain Tiny Linux template, which can be built immediately. Returns its id. */
export async function createAppliance(tux: Client, overrides: Record<string, string | number> = {}): Promise<number> {
  if (templatesOf !== file.kilnFile) templates = undefined;
  templatesOf = file.kilnFile;
  await (templates ??= loadTemplates());
  const answer = await tux.post("/appliances", { clone_from: 1, name: "Kiosk", arch: "x86_64", ...overrides });
  const { appliance } = await readXml(answer);
  return Number(appliance.id);
}

/** An appliance without warnings: its root user does not have the template's password. */
export async function createSafeAppliance(
  tux: Client,
  overrides: Record<string, string | number> = {},
): Promise<number> {
  const id = await createAppliance(tux, overrides);
  await setRootPassword(tux, id);
  return id;
}

export const setRootPassword = (tux: Client, id: number) =>
  tux.put(
    `/appliances/${id}/configuration`,
    "<configuration><users><user><name>root</name><password>known to no one</password></user></users></configuration>",
  );

/** A build that waits for an agent. Returns its id. */
export async function startBuild(
  tux: Client,
  applianceId: number,
  params: Record<string, string> = {},
): Promise<number> {
  const { build } = await readXml(await tux.post("/running_builds", { appliance_id: applianceId, ...params }));
  if (build === undefined) throw new Error("the build was refused");
  return Number(build.id);
}

/** An appliance with a finished build of its first version. */
export async function createBuild(
  tux: Client,
  image = bytesOf("an image"),
  told: Partial<BuildFinished> & { store?: StoreBytes } = {},
): Promise<{ applianceId: number; buildId: number; uid: string; agent: FakeAgent }> {
  const applianceId = await createAppliance(tux);
  const buildId = await startBuild(tux, applianceId);
  const agent = await fakeAgent();
  const { uid } = await agent.buildsSuccessfully(buildId, image, told);
  return { applianceId, buildId, uid, agent };
}
