import type { Client } from "../client/client.ts";
import { Complaint } from "../complaint.ts";
import { endedBuilds } from "../builds/ended.ts";
import { applianceId as idOf, imageIds, typeIn, type Which } from "../resolve.ts";
import { imageInChannel, imageOfBuild, type Image } from "./image.ts";

/** The images of a build or an appliance. */
export async function builtImages(client: Client, given: string, which: Which): Promise<Image[]> {
  const images: Image[] = [];
  for (const id of await imageIds(client, given, which)) {
    images.push(imageOfBuild(id, (await client.call("getBuild", { build_id: id })).build));
  }
  return images;
}

/** The images of the version that a channel has. The appliance, perhaps with a type, is given like a build. */
export async function imagesInChannel(
  client: Client,
  given: string,
  { channel, version, isAll }: Which & { channel: string },
): Promise<Image[]> {
  if (version !== undefined) throw new Complaint("misused", "--channel and --version exclude each other.", "Use one.");
  const { name, type } = typeIn(given);
  const { channels } = await client.call("listPublishedChannels", { appliance_id: await idOf(client, name) });
  const found = channels.find((one) => one.name === channel);
  if (found?.version === undefined) {
    const names = channels.map((one) => one.name).join(", ") || "none with a version";
    throw new Complaint("notFound", `${name} has no channel ${channel}.`, `Its channels are: ${names}.`);
  }
  const head = found.version;
  const images = found.images.filter(({ image_type: each }) => type === undefined || each === type);
  const [first] = images;
  if (first) return (isAll ? images : [first]).map((image) => imageInChannel(head, image));
  const types = found.images.map(({ image_type: each }) => each).join(", ");
  throw new Complaint("notFound", `Version ${head} in ${channel} has no ${type} image.`, `It has: ${types}.`);
}

/** The addresses of an appliance's older images of the same type, newest first. None if it is another account's. */
export async function* olderImages(
  client: Client,
  applianceId: number,
  { id, image_type: type }: Image,
): AsyncGenerator<string> {
  try {
    for await (const one of endedBuilds(client, applianceId)) {
      const isOlder = one.id < id && one.image_type === type && one.state === "finished" && !one.expired;
      if (isOlder && one.download_url !== undefined) yield one.download_url;
    }
  } catch (error) {
    if (!(error instanceof Complaint)) throw error;
  }
}
