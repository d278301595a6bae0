/** A mail in the form in which the operator's sender receives it over HTTP. */
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { sendMail } from "../../src/domain/mail/sender.ts";

let server: Server;
let status = 200;
let received: { headers: IncomingHttpHeaders; url: string | undefined; body: unknown }[] = [];

beforeAll(async () => {
  server = createServer(async (request, answer) => {
    const { headers, url } = request;
    received.push({ headers, url, body: JSON.parse(await text(request)) });
    answer.writeHead(status, { location: "/elsewhere" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => void server.close());
beforeEach(() => {
  status = 200;
  received = [];
});

const mail = {
  to: "mira@example.org",
  subject: "Kiln: news",
  text: "One line.\n",
  headers: { "List-Unsubscribe": "<https://kiln.test/account#mail>" },
};
const envOf = (MAIL_TOKEN?: string) => ({
  MAIL_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/emails`,
  MAIL_FROM: "kiln@example.org",
  BASE_URL: "https://kiln.test",
  ...(MAIL_TOKEN !== undefined && { MAIL_TOKEN }),
});

it("is JSON with the operator's address and token, and a key for repetitions", async () => {
  expect(await sendMail(envOf("secret"), mail, "uid-7")).toEqual({ status: 200 });
  expect(received).toEqual([
    {
      url: "/emails",
      headers: expect.objectContaining({
        authorization: "Bearer secret",
        "content-type": "application/json; charset=utf-8",
        "idempotency-key": "uid-7",
      }),
      body: { from: "kiln@example.org", ...mail },
    },
  ]);
  await sendMail(envOf(), mail, "uid-8");
  expect(received[1]?.headers.authorization).toBeUndefined();
});

it("follows no redirect, and reports a server that does not answer", async () => {
  status = 307;
  expect(await sendMail(envOf("secret"), mail, "uid-9")).toEqual({ status: 307 });
  expect(received).toHaveLength(1);
  const closed = { ...envOf("secret"), MAIL_URL: "http://127.0.0.1:1/" };
  expect(await sendMail(closed, mail, "uid-10")).toEqual({ problem: "The receiver cannot be reached." });
});
