import type { Context } from "hono";
import {
  GuestAnswer,
  GuestRequest,
  guestAddress,
  guestHead,
  guestHeadHeader,
  isBodyless,
  maxGuestRequestBytes,
  readGuestHead,
} from "#contract/index";
import { findTestdriveByWeb, testdriveObject } from "#domain/testdrives/testdrive";
import type { Testdrive } from "#storage/testdrives";
import { factory, type WebEnv } from "./factory.ts";
import { allowPreflight, askedHeaders, shownHeaders } from "./guest-headers.ts";

/**
 * The web server of a testdrive's guest, for whoever knows the address (decision 24). It is a stranger's machine on our
 * origin: nothing of ours goes to it, and its pages run in a sandbox with an origin of their own.
 */
export const guestWeb = factory.createApp().all("/:id/:webToken/http/*", async (c) => {
  const testdrive = await findGuest(c);
  if (!testdrive) return sentence(404, "There is no web page of a machine at this address.");
  const { pathname, search } = new URL(c.req.url);
  const prefix = `/testdrives/${testdrive.id}/${testdrive.webToken}/http`;
  if (pathname === prefix) return redirect(`${prefix}/${search}`);
  const { method, headers, body } = c.req.raw;
  if (method === "OPTIONS" && headers.has("access-control-request-method")) return allowPreflight();
  if (headers.has("upgrade"))
    return sentence(400, "A machine's web server is reached by plain HTTP, not by WebSocket.");
  if (Number(headers.get("content-length") ?? 0) > maxGuestRequestBytes)
    return sentence(413, `At most ${maxGuestRequestBytes} bytes may be sent to a machine.`);

  const target = pathname.slice(prefix.length) + search;
  const asked = GuestRequest.safeParse({ method, target, headers: askedHeaders(headers), hasBody: body !== null });
  if (!asked.success) return sentence(400, "This cannot be asked of a machine.");
  const answer = await askObject(c, testdrive, asked.data);
  return showAnswer(answer, prefix, target);
});

async function findGuest(c: Context<WebEnv>): Promise<Testdrive | undefined> {
  const { id = "", webToken = "" } = c.req.param();
  return /^[1-9]\d{0,14}$/.test(id) ? await findTestdriveByWeb(c.var.db, Number(id), webToken) : undefined;
}

/** Its session's object; one that starts again in the middle, after a deploy, has forgotten the visitor. */
async function askObject(c: Context<WebEnv>, testdrive: Testdrive, asked: GuestRequest): Promise<Response> {
  const { body } = c.req.raw;
  const headers = { [guestHeadHeader]: guestHead(asked) };
  const request = new Request("https://testdrive/web", { method: body ? "POST" : "GET", headers, body });
  try {
    return await testdriveObject(c.env, testdrive).fetch(request);
  } catch (error) {
    console.error(`testdrive ${testdrive.id}: a visitor was lost`, error);
    return new Response("The service has started again. Please try once more.\n", { status: 503 });
  }
}

/** The guest's answer, or the object's own sentence where there is none. */
function showAnswer(answer: Response, prefix: string, target: string): Response {
  const head = readGuestHead(GuestAnswer, answer.headers.get(guestHeadHeader));
  if (!head) return new Response(answer.body, { status: answer.status, headers: shownHeaders(plainText) });
  const { location, ...others } = head.headers;
  const inside = location === undefined ? undefined : locationWithin(prefix, location, target);
  if (location !== undefined && inside === undefined) {
    return sentence(502, "The machine's web server sends its visitors to another site, which is not followed.");
  }
  const headers = shownHeaders({ ...others, ...(inside !== undefined && { location: inside }) });
  const body = isBodyless(head.status) ? null : answer.body;
  return new Response(body, { status: head.status, headers, encodeBody: "manual" });
}

/** A redirect as the visitor has to follow it; undefined where it leads away from the guest. */
function locationWithin(prefix: string, location: string, target: string): string | undefined {
  const url = URL.parse(location, `http://${guestAddress}${target}`);
  if (url?.origin !== `http://${guestAddress}`) return undefined;
  return prefix + url.pathname + url.search + url.hash;
}

const redirect = (location: string) => new Response(null, { status: 308, headers: shownHeaders({ location }) });

const plainText = { "content-type": "text/plain; charset=utf-8" };
const sentence = (status: number, words: string) =>
  new Response(`${words}\n`, { status, headers: shownHeaders(plainText) });
