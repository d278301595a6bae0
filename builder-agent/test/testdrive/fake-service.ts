import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer, type WebSocket } from "ws";
import { attemptHeader, CheckReport, TestdriveReport, type TestdriveOrder } from "../../src/contract.ts";
import { connectWorker } from "../../src/worker-api.ts";
import { eventually } from "../support/agent-place.ts";

const token = "agent-token-for-tests";
export const sessionToken = "session-token";

/** One viewer's socket on the Testdrive object's side, with all bytes that QEMU has sent. */
export class FakeViewer {
  readonly socket: WebSocket;
  readonly frames: Buffer[] = [];
  closed: number | undefined;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data: Buffer) => this.frames.push(data));
    socket.on("close", (code) => (this.closed = code));
  }

  get bytes(): Buffer {
    return Buffer.concat(this.frames);
  }

  credit(bytes: number): void {
    this.socket.send(JSON.stringify({ credit: bytes }));
  }
}

/** The Worker's side of one testdrive, over real HTTP and WebSockets. */
export async function startFakeService() {
  const service = new FakeService();
  const server = createServer((request, response) => void service.answer(request, response));
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    const refusal = service.refusal(request);
    if (refusal === undefined)
      sockets.handleUpgrade(request, socket, head, (ws) => service.join(request.url ?? "", ws));
    else socket.end(`HTTP/1.1 ${refusal} refused\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return Object.assign(service, {
    api: connectWorker({ url: `http://127.0.0.1:${port}`, token }),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

class FakeService {
  readonly reports: TestdriveReport[] = [];
  readonly viewers = new Map<string, FakeViewer>();
  controls: WebSocket[] = [];
  /** Sockets of visitors of the guest's web server. */
  readonly visits = new Map<string, WebSocket>();
  /** Connections for requests about modified files. */
  modified: WebSocket[] = [];
  /** Answers to these requests, by their ids. */
  readonly answers = new Map<string, { type: string; body: Buffer }>();
  /** The reports of checks that were sent. */
  readonly checked: CheckReport[] = [];
  /** The screens of earlier builds. */
  readonly screens = new Map<number, Buffer>();
  /** The file that every session's image route serves. */
  image: Buffer = Buffer.alloc(0);
  /** Paths at which the image was read. */
  readonly imagePaths: string[] = [];
  /** The first byte of each requested range. */
  readonly ranges: number[] = [];
  /** Breaks off the body of each answer after this many bytes. */
  cutAfter = Number.POSITIVE_INFINITY;
  /** Delays every answer until this resolves. */
  held: Promise<void> | undefined;
  /** The body stalls after `cutAfter` bytes instead of breaking off. */
  stalls = false;
  /** Status codes for control sockets that are refused. */
  refuseControl: number | undefined;
  refusedControls = 0;

  get control(): WebSocket {
    const socket = this.controls.at(-1);
    if (!socket) throw new Error("no control socket came");
    return socket;
  }

  said(type: TestdriveReport["type"]): TestdriveReport[] {
    return this.reports.filter((report) => report.type === type);
  }

  order(order: TestdriveOrder): void {
    this.control.send(JSON.stringify(order));
  }

  async openViewer(viewer: string): Promise<FakeViewer> {
    this.order({ type: "viewer", viewer });
    return await eventually(`viewer ${viewer}`, () => this.viewers.get(viewer));
  }

  refusal(request: IncomingMessage): number | undefined {
    if (request.headers.authorization !== `Bearer ${token}`) return 401;
    if (request.headers[attemptHeader] !== sessionToken) return 403;
    if (this.refuseControl === undefined || !request.url?.endsWith("/control")) return undefined;
    this.refusedControls += 1;
    return this.refuseControl;
  }

  join(path: string, socket: WebSocket): void {
    const viewer = /^\/agent\/testdrives\/\d+\/viewers\/(.+)$/.exec(path)?.[1];
    if (viewer !== undefined) return void this.viewers.set(viewer, new FakeViewer(socket));
    const visit = /\/visits\/(.+)\/socket$/.exec(path)?.[1];
    if (visit !== undefined) return void this.visits.set(visit, socket);
    if (path.endsWith("/modified")) return void this.modified.push(socket);
    this.controls.push(socket);
    socket.on("message", (data: Buffer) => this.reports.push(TestdriveReport.parse(JSON.parse(data.toString()))));
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = /^\/agent\/testdrives\/\d+\/modified\/(.+)$/.exec(request.url ?? "")?.[1];
    if (asked !== undefined) return void this.#note(asked, request, response);
    if (request.headers[attemptHeader] !== sessionToken) return void response.writeHead(410).end();
    if (request.url?.endsWith("/checks")) return void this.#noteChecks(request, response);
    const build = /\/checks\/screens\/(\d+)$/.exec(request.url ?? "")?.[1];
    if (build !== undefined) {
      const screen = this.screens.get(Number(build));
      return void response.writeHead(screen ? 200 : 204).end(screen);
    }
    this.imagePaths.push(request.url ?? "");
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    this.ranges.push(from);
    await this.held;
    const size = this.image.length;
    const headers = { "content-range": `bytes ${from}-${size - 1}/${size}`, "content-length": size - from };
    response.writeHead(206, headers);
    const body = this.image.subarray(from);
    if (body.length <= this.cutAfter) return void response.end(body);
    response.write(body.subarray(0, this.cutAfter), () => {
      if (!this.stalls) response.destroy();
    });
  }

  async #noteChecks(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.checked.push(CheckReport.parse(JSON.parse(String(await bodyOf(request)))));
    response.writeHead(204).end();
  }

  async #note(asked: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.answers.set(asked, { type: request.headers["content-type"] ?? "", body: await bodyOf(request) });
    response.writeHead(204).end();
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
