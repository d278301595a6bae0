import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Client } from "./client.ts";
import { createAppliance, startBuild } from "./factories.ts";
import { bytesOf, fakeAgent } from "./fake-agent.ts";
import { publish } from "./gallery.ts";

interface Channel {
  name: string;
  automatic: boolean;
  version?: string;
  images: { image_type: string; url: string; sha256: string; file_name: string }[];
}

/** The channels that a call lists. */
export const channelsAt = async (who: Client, path: string): Promise<Channel[]> =>
  (await (await who.get(path, { headers: { accept: "application/json" } })).json<{ channels: Channel[] }>()).channels;

/** A new appliance, with the actions that tests of channels need. */
export type Room = Awaited<ReturnType<typeof newRoom>>;
export async function newRoom(tux: Client) {
  const id = await createAppliance(tux, { name: "Reading room" });
  const channels = () => channelsAt(tux, `/appliances/${id}/channels`);
  const image = (version: string) => bytesOf(`the image of ${version} of ${id}`);

  /** Builds a version in several formats. Returns the ids of the builds. */
  async function build(version: string, ...types: string[]): Promise<number[]> {
    const ids: number[] = [];
    for (const image_type of types.length === 0 ? ["oem"] : types) {
      const buildId = await startBuild(tux, id, { version, image_type, ...(ids.length > 0 && { multi: "true" }) });
      const agent = await fakeAgent();
      await agent.buildsSuccessfully(buildId, image(version), { fileName: `Room-${version}.${image_type}` });
      ids.push(buildId);
    }
    return ids;
  }

  return {
    id,
    channels,
    image,
    build,
    heads: async () => Object.fromEntries((await channels()).map(({ name, version }) => [name, version])),
    set: (name: string, query = "") => tux.put(`/appliances/${id}/channels/${name}?${query}`, ""),
    /** Sets the next version, as if all earlier versions had been built. */
    nextIs: (version: string) =>
      env.DB.prepare("UPDATE appliances SET version = ? WHERE id = ?").bind(version, id).run(),
    /** Builds and publishes a version. Returns the ids of the builds. */
    released: async (version: string, ...types: string[]): Promise<number[]> => {
      const ids = await build(version, ...types);
      expect((await publish(tux, id, version)).status).toBe(200);
      return ids;
    },
    at: (rest: string, { username } = tux) => `/image/${username}/${id}/${rest}`,
  };
}
