import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { restClient, type RestClient } from "./support/rest.ts";
import { startService, until, type Service } from "./support/service.ts";

interface Received {
  url: string;
  signature: string;
  body: string;
}

let service: Service;
let tux: RestClient;
let applianceId: string;
/** The receiver, which the operator has allowed, and a server that is not allowed. */
let receiver: { server: Server; port: number; received: Received[]; status: number };
let secret: { server: Server; port: number; received: Received[] };

beforeAll(async () => {
  receiver = Object.assign(await serving(() => receiver.status), { status: 200 });
  secret = await serving(() => 200);
  service = await startService(["--no-agent", "--allow-host", `127.0.0.1:${receiver.port}`]);
  tux = restClient(service.ready());
  applianceId = (await tux.call("POST", "/appliances", { clone_from: 1, arch: "x86_64" })).appliance.id;
});

afterAll(async () => {
  await service.stop();
  for (const { server } of [receiver, secret]) server.close();
});

async function serving(status: () => number) {
  const received: Received[] = [];
  const server = createServer(async (request, answer) => {
    const { url = "", headers } = request;
    received.push({ url, signature: String(headers["kiln-signature"]), body: await bodyOf(request) });
    const location = `http://127.0.0.1:${(secret.server.address() as AddressInfo).port}/`;
    answer.writeHead(url === "/redirect" ? 307 : status(), url === "/redirect" ? { location } : {}).end();
  });
  const port = await new Promise<number>((resolve) =>
    server.listen(0, () => resolve((server.address() as AddressInfo).port)),
  );
  return { server, port, received };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function listen(lastEventId?: string) {
  const { url, username, api_key: apiKey } = service.ready();
  const authorization = `Basic ${Buffer.from(`${username}:${apiKey}`).toString("base64")}`;
  const aborter = new AbortController();
  const headers = { authorization, ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }) };
  const answer = fetch(`${url}/api/v2/user/events`, { headers, signal: aborter.signal });
  return { answer, aborter };
}

/** Reads until the text matches. */
async function readUntil(answer: Response, pattern: RegExp): Promise<string> {
  let text = "";
  for await (const chunk of answer.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (pattern.test(text)) return text;
  }
  throw new Error(`the stream ended: ${text}`);
}

/** A listener, as soon as a slot is free. The next heartbeat notices disconnected listeners. */
const listenWithRoom = () =>
  until("a slot is free", 60, async () => {
    const one = listen();
    if ((await one.answer).status === 200) return one;
    one.aborter.abort();
    return undefined;
  });

/** Starts a build and cancels it. */
async function buildAndCancel(): Promise<string> {
  const { build } = await tux.call("POST", "/running_builds", { appliance_id: applianceId, force: "true" });
  await tux.call("DELETE", `/running_builds/${build.id}`);
  return build.id;
}

describe("the events of an account", () => {
  it("reach a webhook, signed, and a listener", async () => {
    const { webhook } = await tux.call("POST", "/webhooks", { url: `http://127.0.0.1:${receiver.port}/hook` });
    const { answer } = listen();
    const opened = await answer;
    expect(opened.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");

    const id = await buildAndCancel();

    const text = await readUntil(opened, /event: build\.cancelled\n.*\n\n/);
    expect(text).toContain("event: build.queued\n");
    const letters = await until("both deliveries have arrived", 20, () =>
      receiver.received.length >= 2 ? receiver.received : undefined,
    );
    for (const { url, signature, body } of letters) {
      const [, seconds, digest] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
      expect(url).toBe("/hook");
      expect(digest).toBe(createHmac("sha256", webhook.secret).update(`${seconds}.${body}`).digest("hex"));
      expect(JSON.parse(body).build.id).toBe(Number(id));
    }
    expect(letters.map(({ body }) => JSON.parse(body).event)).toEqual(["build.queued", "build.cancelled"]);
    expect(text).toContain(`data: ${letters[1]?.body}\n`);
    await tux.call("DELETE", `/webhooks/${webhook.id}`);
  });

  it("are sent again until the receiver accepts them", async () => {
    const { webhook } = await tux.call("POST", "/webhooks", {
      url: `http://127.0.0.1:${receiver.port}/again`,
      events: "build.cancelled",
    });
    receiver.status = 503;
    await buildAndCancel();
    const again = () => receiver.received.filter(({ url }) => url === "/again");
    await until("it was tried", 20, () => again().length >= 1);
    receiver.status = 200;

    await until("it was tried again", 60, () => again().length === 2);

    const delivery = await until("it is delivered", 20, async () => {
      const { deliveries } = await tux.call("GET", `/webhooks/${webhook.id}/deliveries`);
      return deliveries.delivery.state === "delivered" ? deliveries.delivery : undefined;
    });
    expect(delivery).toMatchObject({ attempts: "2", http_status: "200" });
    await tux.call("DELETE", `/webhooks/${webhook.id}`);
  });

  it("go to no private address, by name or by redirect", async () => {
    await expect(tux.call("POST", "/webhooks", { url: `http://127.0.0.1:${secret.port}/` })).rejects.toThrow(
      /invalid_value.*private network/,
    );
    await expect(tux.call("POST", "/webhooks", { url: service.ready().url })).rejects.toThrow(/invalid_value/);
    const urls = [`http://${hostname()}:${secret.port}/`, `http://127.0.0.1:${receiver.port}/redirect`];
    const made = await Promise.all(
      urls.map((url) => tux.call("POST", "/webhooks", { url, events: "build.cancelled" })),
    );
    await buildAndCancel();

    for (const { webhook } of made) {
      const delivery = await until("it was tried", 30, async () => {
        const { deliveries } = await tux.call("GET", `/webhooks/${webhook.id}/deliveries`);
        return Number(deliveries.delivery?.attempts) > 0 ? deliveries.delivery : undefined;
      });
      expect(delivery.state).toBe("waiting");
      await tux.call("DELETE", `/webhooks/${webhook.id}`);
    }
    expect(receiver.received.filter(({ url }) => url === "/redirect")).toHaveLength(1);
    expect(secret.received).toEqual([]);
  });

  it("resume after the last event that was seen", async () => {
    const { answer, aborter } = listen("1");
    expect(await readUntil(await answer, /id: 2\n.*\n.*\n\n/)).not.toContain("id: 1\n");
    aborter.abort();
  });

  it("free the slots of listeners that disconnected unexpectedly", async () => {
    for (let round = 0; round < 3; round++) {
      const open = [await listenWithRoom()];
      let status = 200;
      while (status === 200 && open.length <= 10) {
        open.push(listen());
        status = (await open.at(-1)?.answer)?.status ?? 0;
      }
      expect(status).toBe(400);
      for (const { aborter } of open) aborter.abort();
    }
  });
});
