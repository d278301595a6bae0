import { Hono, type Context } from "hono";
import { imageOfChannel, imageOfVersion } from "#domain/channels/address";
import { etagOf, hitsIfNoneMatch } from "#http/etag";
import { imageTypes } from "#lib/contract/index";
import type { ChannelAddress } from "#storage/channels";
import { answerDownload, noFile, suffixes } from "./download.ts";
import { errorPage, wantsPage } from "./error-page.tsx";
import type { WebEnv } from "./factory.ts";

/** How long a client or a cache may reuse a redirect. */
const redirectSeconds = 60;

/**
 * Permanent addresses of published images, which need no account: `/image/ACCOUNT/APPLIANCE/CHANNEL/FORMAT` redirects
 * to the image at the head of the channel. With a suffix, it redirects to a document about the image.
 */
export const channelAddresses = new Hono<WebEnv>()
  .get("/:account/:appliance/:channel/:format", async (c) => {
    const { channel, format } = c.req.param();
    return await answerChannel(c, addressOf(c), { channel, format });
  })
  .get("/:account/:appliance/:version/:format/:fileName", async (c) => {
    const address = addressOf(c);
    const { version, format, fileName } = c.req.param();
    const image = address && (await imageOfVersion(c.var.db, address, { version, imageType: typeNamed(format) }));
    if (!image) return noFile(c);
    const answer = await answerDownload(c, image, { fileName });
    // A cache must not serve the file after the version has left the channel.
    answer.headers.set("cache-control", "no-cache");
    return answer;
  });

/** Redirects to the image at the head of a channel. */
export async function answerChannel(
  c: Context<WebEnv>,
  address: ChannelAddress | undefined,
  { channel, format }: { channel: string; format: string },
): Promise<Response> {
  const [type, suffix] = formatOf(format);
  const found = address && (await imageOfChannel(c.var.db, address, { channel, imageType: typeNamed(type) }));
  if (!found) return noFile(c);
  return "why" in found ? noImage(c, found.why) : redirect(c, address, found.image, suffix);
}

function addressOf(c: Context<WebEnv>): ChannelAddress | undefined {
  const [username, id] = [c.req.param("account"), c.req.param("appliance")];
  if (username === undefined || id === undefined || !/^[1-9]\d{0,14}$/.test(id)) return undefined;
  return { username, applianceId: Number(id) };
}

/** `oem.sha256`: the format, and the suffix of a document about the image. */
export function formatOf(name: string): [type: string, suffix: string] {
  const suffix = suffixes.find((each) => name.endsWith(each)) ?? "";
  return [name.slice(0, name.length - suffix.length), suffix];
}

const typeNamed = (name: string) => imageTypes.find((type) => type === name);

/** Redirects to an address that always means the same file, so that a resumed download gets the rest of that file. */
function redirect(
  c: Context<WebEnv>,
  { username, applianceId }: ChannelAddress,
  { version, imageType, fileName }: { version: string; imageType: string; fileName: string | null },
  suffix: string,
): Response {
  const names = [username, applianceId, version, imageType, `${fileName ?? ""}${suffix}`];
  return redirectTo(c, `/image/${names.map(encodeURIComponent).join("/")}`, `public, max-age=${redirectSeconds}`);
}

/** A redirect whose ETag changes with its target. */
export function redirectTo(c: Context<WebEnv>, to: string, cacheControl: string): Response {
  const headers = { "Cache-Control": cacheControl, ETag: etagOf(to) };
  if (hitsIfNoneMatch(c.req.header("if-none-match"), headers.ETag)) return c.body(null, 304, headers);
  return c.body(null, 302, { ...headers, Location: to });
}

const noImage = (c: Context<WebEnv>, why: string) =>
  wantsPage(c) ? errorPage(c, { status: 404, message: why }) : new Response(`${why}\n`, { status: 404 });
