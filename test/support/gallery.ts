import { visit, type Client } from "./client.ts";
import { createBuild } from "./factories.ts";
import { rpmOf } from "./packages.ts";
import { sent } from "../api/every-call/send.ts";

/** A plain text body with the Ruby client's content type. */
export const sendText = (
  tux: Client,
  method: "POST" | "PUT",
  path: string,
  { body = "", type = "application/x-www-form-urlencoded" }: { body?: BodyInit; type?: string } = {},
): Promise<Response> =>
  visit(`/api/v2/user${path}`, {
    method,
    body,
    headers: { authorization: `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`, "content-type": type },
  });

export const galleryPath = (applianceId: number, rest = ""): string => `/gallery/appliances/${applianceId}${rest}`;

export const publish = (tux: Client, applianceId: number, version = "0.0.1", notes = ""): Promise<Response> =>
  sendText(tux, "POST", galleryPath(applianceId, `/version/${version}`), { body: notes });

/** Changes one part of an appliance's configuration. */
export async function configure(tux: Client, applianceId: number, xml: string): Promise<void> {
  const answer = await tux.put(`/appliances/${applianceId}/configuration`, `<configuration>${xml}</configuration>`);
  if (!answer.ok) throw new Error(await answer.text());
}

/** A published appliance with this configuration, whose first version is built. */
export async function publishedAppliance(
  tux: Client,
  { configuration = "", notes = "" }: { configuration?: string; notes?: string } = {},
): Promise<{ applianceId: number; buildId: number }> {
  const { applianceId, buildId } = await createBuild(tux);
  if (configuration !== "") await configure(tux, applianceId, configuration);
  const answer = await publish(tux, applianceId, "0.0.1", notes);
  if (!answer.ok) throw new Error(await answer.text());
  return { applianceId, buildId };
}

/** Uploads a package to the account, and adds the user repository with it to an appliance. */
export async function addUserRepository(tux: Client, applianceId: number, name: string): Promise<void> {
  await sent({
    method: "POST",
    path: "/rpms?base_system=tiny-1.0",
    body: { file: rpmOf(name) },
    credentials: tux,
  });
  await tux.post(`/appliances/${applianceId}/cmd/add_user_repository`);
}
