/** A stand-in for a service's admin routes, and the output of `npm run admin`. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { afterEach, beforeEach, vi } from "vitest";
import { administer } from "../../scripts/admin/commands.ts";
import { answers } from "./admin-answers.ts";

export let service: Server;
let isOn: boolean;
export let asked: string[];
export let printed: string;
export let warned: string;
/** Answers of the service that come before all others, in this order. */
export let pages: unknown[];

/** Answers like the admin routes (test/api/read-only.test.ts and test/web/agreement.test.ts test the real ones). */
export function serveAdminRoutes(): void {
  beforeEach(async () => {
    [isOn, asked, printed, warned, pages] = [false, [], "", "", []];
    service = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      asked.push(`${request.method} ${request.url} ${request.headers.authorization} ${body}`.trim());
      const told = JSON.parse(body || "{}") as { on?: boolean; paused?: boolean };
      isOn = told.on ?? told.paused ?? false;
      const mode = { on: isOn, paused: isOn, since: isOn ? "2026-11-20T10:00:00.000Z" : null };
      response.end(JSON.stringify(pages.shift() ?? answers[request.url ?? ""] ?? mode));
    }).listen(0, "127.0.0.1");
    await once(service, "listening");
    vi.spyOn(process.stdout, "write").mockImplementation((text) => Boolean((printed += String(text))));
    vi.spyOn(process.stderr, "write").mockImplementation((text) => Boolean((warned += String(text))));
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    service.close();
    await once(service, "close");
  });
}

export function serviceUrl(): string {
  const address = service.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `http://127.0.0.1:${address.port}`;
}

export const run = (...words: string[]) => administer(words, { KILN_URL: serviceUrl(), KILN_ADMIN_SECRET: "secret" });
