import type { Context } from "hono";
import { html } from "hono/html";
import {
  GuestAnswer,
  GuestRequest,
  guestAddress,
  guestHead,
  guestHeadHeader,
  isBodyless,
  maxGuestRequestBytes,
  readGuestHead,
} from "#lib/contract/index";
import { findTestdriveByWeb, testdriveObject } from "#domain/testdrives/testdrive";
import { untimed } from "#http/request-body";
import { logFailure } from "#log/log";
import type { Testdrive } from "#storage/testdrives";
import { factory, type WebEnv } from "./factory.ts";
import { allowPreflight, guestRequestHeaders, visitorHeaders } from "./guest-headers.ts";

/**
 * The web server of a testdrive's guest, for anyone who knows the URL (decision 25). It is an untrusted machine on our
 * origin, so it gets none of our data, and its pages run in a sandbox with an opaque origin.
 */
export const guestWeb = factory.createApp().all("/:id/:webToken/http/*", async (c) => {
  const testdrive = await findGuest(c);
  if (!testdrive) return textAnswer(404, "There is no testdrive's web page at this URL.");
  const { pathname, search } = new URL(c.req.url);
  const prefix = `/testdrives/${testdrive.id}/${testdrive.webToken}/http`;
  if (pathname === prefix) return redirect(`${prefix}/${search}`);
  const { method, headers, body } = untimed(c);
  if (method === "OPTIONS" && headers.has("access-control-request-method")) return allowPreflight();
  if (Number(headers.get("content-length") ?? 0) > maxGuestRequestBytes)
    return textAnswer(413, `A request to a testdrive may have at most ${maxGuestRequestBytes} bytes.`);

  const target = pathname.slice(prefix.length) + search;
  const guestRequest = GuestRequest.safeParse({
    method,
    target,
    headers: guestRequestHeaders(headers),
    hasBody: body !== null,
    ...(isWebSocket(headers) && { isSocket: true }),
  });
  if (!guestRequest.success) return textAnswer(400, "This request cannot be sent to a testdrive.");
  const answer = await passOn(c, testdrive, guestRequest.data);
  if (answer.webSocket) return answer;
  const waiting = method === "GET" && acceptsPage(headers) ? await excuseIn(answer) : undefined;
  return waiting ?? showAnswer(answer, prefix, target);
});

const acceptsPage = (headers: Headers): boolean => headers.get("accept")?.includes("text/html") ?? false;

/** A page that reloads itself if the guest has not answered yet. Undefined if it has answered. */
async function excuseIn(answer: Response): Promise<Response | undefined> {
  const head = readGuestHead(GuestAnswer, answer.headers.get(guestHeadHeader));
  const status = head?.isExcuse ? head.status : answer.status;
  if ((head && !head.isExcuse) || !mayComeYet.has(status)) return undefined;
  return new Response(waitingPage((await answer.text()).trim()), { status, headers: visitorHeaders(page) });
}

async function findGuest(c: Context<WebEnv>): Promise<Testdrive | undefined> {
  const { id = "", webToken = "" } = c.req.param();
  return /^[1-9]\d{0,14}$/.test(id)
    ? await findTestdriveByWeb({ db: c.var.db, env: c.env }, Number(id), webToken)
    : undefined;
}

const isWebSocket = (headers: Headers): boolean => headers.get("upgrade")?.toLowerCase() === "websocket";

/** With these statuses, the machine or the service may still be starting. */
const mayComeYet: ReadonlySet<number> = new Set([502, 503, 504]);

/** Asks the session's object. If the object restarts during the request, after a deploy, the request fails. */
async function passOn(c: Context<WebEnv>, testdrive: Testdrive, guestRequest: GuestRequest): Promise<Response> {
  const { body } = untimed(c); // the body may still arrive after the answer has begun
  const headers = {
    [guestHeadHeader]: guestHead(guestRequest),
    ...(guestRequest.isSocket && { upgrade: "websocket" }),
  };
  const request = new Request("https://testdrive/web", { method: body ? "POST" : "GET", headers, body });
  try {
    return await testdriveObject(c.env, testdrive).fetch(request);
  } catch (error) {
    logFailure("a web visitor was lost", error, { testdriveId: testdrive.id });
    return new Response("The service has restarted. Please try again.\n", { status: 503 });
  }
}

/** The guest's answer or, without one, the object's own message. */
function showAnswer(answer: Response, prefix: string, target: string): Response {
  const head = readGuestHead(GuestAnswer, answer.headers.get(guestHeadHeader));
  if (!head) return new Response(answer.body, { status: answer.status, headers: visitorHeaders(plainText) });
  const { location, ...others } = head.headers;
  const inside = location === undefined ? undefined : locationWithin(prefix, location, target);
  if (location !== undefined && inside === undefined) {
    return textAnswer(502, "The testdrive's web server redirects to another site, which is not allowed.");
  }
  const headers = visitorHeaders({ ...others, ...(inside !== undefined && { location: inside }) });
  const body = isBodyless(head.status) ? null : answer.body;
  return new Response(body, { status: head.status, headers, encodeBody: "manual" });
}

/** The visitor's URL for a redirect of the guest; undefined if it leads away from the guest. */
function locationWithin(prefix: string, location: string, target: string): string | undefined {
  const url = URL.parse(location, `http://${guestAddress}${target}`);
  if (url?.origin !== `http://${guestAddress}`) return undefined;
  return prefix + url.pathname + url.search + url.hash;
}

const redirect = (location: string) => new Response(null, { status: 308, headers: visitorHeaders({ location }) });

const page = { "content-type": "text/html; charset=utf-8" };
const plainText = { "content-type": "text/plain; charset=utf-8" };
const textAnswer = (status: number, words: string) =>
  new Response(`${words}\n`, { status, headers: visitorHeaders(plainText) });

const waitingStyle = `:root { color-scheme: light dark; font: 1.1rem/1.5 system-ui, sans-serif; }
body { display: grid; place-content: center; min-height: 90vh; max-width: 34rem; margin: auto; padding: 1rem; text-align: center; }`;

/** The page while a guest does not answer yet. It uses none of our files, because this origin belongs to the guest. */
const waitingPage = (reason: string): string =>
  String(
    html`<!DOCTYPE html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta http-equiv="refresh" content="3" />
          <title>Waiting for the machine</title>
          <style>
            ${waitingStyle}
          </style>
        </head>
        <body>
          <main>
            <h1>Waiting for the machine</h1>
            <p>${reason}</p>
            <p>This page tries again every 3 seconds.</p>
          </main>
        </body>
      </html>`,
  );
