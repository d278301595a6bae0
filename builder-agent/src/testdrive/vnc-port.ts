import { connect, createServer, type Server, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { pipeline } from "node:stream/promises";
import type { Config } from "../config.ts";
import type { Endpoint } from "./qemu.ts";

/** A TCP port for one session's VNC clients. No other program on this host gets it while it is reserved. */
export interface ReservedVnc {
  /** The host that clients get. */
  host: string;
  port: number;
  /** The address that QEMU listens on. Behind address translation it differs from `host`. */
  bindHost: string;
  /**
   * Stops listening so that QEMU can, but keeps the port reserved. Returns the clients that connected too early;
   * nothing has been read from them.
   */
  handOver(): Promise<Socket[]>;
  /** Keeps listening for a QEMU in a sandbox, and connects all clients to it, the early ones first. */
  passOn(endpoint: Endpoint): void;
  release(): Promise<void>;
}

/** QEMU names a VNC port as a display, which counts from here. */
export const firstVncPort = 5900;

/** The maximum number of clients that wait for QEMU's start. More are disconnected. */
const maxEarlyClients = 8;
/** QEMU itself accepts the same number. */
const maxClients = 32;

/** Reserved ports on which QEMU listens, is about to listen, or has just ended. */
const handedOver = new Set<number>();

/**
 * Reserves a free port of the configured range by listening on it. Null if no address is configured, or if no port is
 * free.
 */
export async function reserveVnc(config: Pick<Config, "vnc">): Promise<ReservedVnc | null> {
  if (config.vnc === null) return null;
  const bindHost = bindAddress(config.vnc.host);
  for (const port of candidates(config.vnc.ports)) {
    const server = handedOver.has(port) ? undefined : await listen(bindHost, port);
    if (server) return reserved(config.vnc.host, bindHost, { server, port });
  }
  return null;
}

/**
 * Every port once, from a random start, so that an ended session's clients do not reach the next one at the old
 * address.
 */
function candidates([from, to]: readonly [number, number]): number[] {
  const first = Math.max(from, firstVncPort);
  const count = Math.max(0, to - first + 1);
  const start = Math.floor(Math.random() * count);
  return Array.from({ length: count }, (_, index) => first + ((start + index) % count));
}

function reserved(host: string, bindHost: string, { server, port }: { server: Server; port: number }): ReservedVnc {
  const clients = new Set<Socket>();
  let endpoint: Endpoint | undefined;
  server.on("connection", (socket) => {
    if (clients.size >= (endpoint ? maxClients : maxEarlyClients)) return void socket.destroy();
    clients.add(socket);
    socket.on("error", () => socket.destroy()).on("close", () => clients.delete(socket));
    if (endpoint) void join(socket, endpoint);
  });
  // close() frees the port immediately. Its callback would wait for early clients.
  return {
    host,
    port,
    bindHost,
    async handOver() {
      handedOver.add(port);
      server.close();
      return [...clients];
    },
    passOn(to) {
      endpoint = to;
      for (const socket of clients) void join(socket, to);
    },
    async release() {
      server.close();
      for (const socket of clients) socket.destroy();
      handedOver.delete(port);
    },
  };
}

/** Joins a client with QEMU until one of them leaves. */
export async function join(client: Socket, endpoint: Endpoint): Promise<void> {
  const vnc = connect(endpoint);
  await Promise.all([pipeline(client, vnc), pipeline(vnc, client)]).catch(() => {});
  client.destroy();
  vnc.destroy();
}

function listen(host: string, port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer({ pauseOnConnect: true });
    server.once("error", () => resolve(undefined));
    server.listen({ host, port, exclusive: true }, () => resolve(server));
  });
}

function bindAddress(host: string): string {
  if (host === "localhost") return "127.0.0.1";
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return own.some(({ address }) => address === host) ? host : "0.0.0.0";
}
