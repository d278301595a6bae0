/** The kernel arguments of an image. Clients of the original API refuse unknown settings. */
import { expect, it } from "vitest";
import { signedIn, visit } from "../support/client.ts";
import { documentOf, putPortion } from "../support/configurations.ts";
import { createAppliance } from "../support/factories.ts";

const tux = await signedIn();

async function settingsOf(id: number): Promise<Record<string, unknown>> {
  const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;
  const headers = { authorization, accept: "application/json" };
  const answer = await visit(`/api/v2/user/appliances/${id}/configuration`, { headers });
  return (await answer.json<{ configuration: { settings: Record<string, unknown> } }>()).configuration.settings;
}

const set = async (id: number, text: string): Promise<number> =>
  (await putPortion(tux, id, `<settings><kernel_arguments>${text}</kernel_arguments></settings>`)).status;

it("are in JSON, and leave the XML of the original as it is", async () => {
  const id = await createAppliance(tux);
  const before = await documentOf(tux, id);
  expect(await set(id, "net.ifnames=0 crashkernel=256M-2G:128M,2G-:256M@16M")).toBe(200);
  expect(await documentOf(tux, id)).toBe(before);
  expect(await settingsOf(id)).toMatchObject({
    kernel_arguments: "net.ifnames=0 crashkernel=256M-2G:128M,2G-:256M@16M",
  });
});

it("stay when a client sends back the XML that it read, and go with an empty text", async () => {
  const id = await createAppliance(tux);
  await set(id, "quiet");
  expect((await tux.put(`/appliances/${id}/configuration`, await documentOf(tux, id))).status).toBe(200);
  expect(await settingsOf(id)).toMatchObject({ kernel_arguments: "quiet" });
  expect(await set(id, "")).toBe(200);
  expect(await settingsOf(id)).not.toHaveProperty("kernel_arguments");
});
