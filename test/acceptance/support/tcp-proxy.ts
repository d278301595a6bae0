import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A connection between an agent and its service that can be cut. */
export interface TcpProxy extends Disposable {
  url: string;
  /** Cuts every connection and accepts no more until `pass`. */
  refuse: () => void;
  /** Forwards nothing in either direction until `pass`. */
  stall: () => void;
  /**
   * Cuts the connection of each of the next requests that match `pattern` when the answer arrives. So the client does
   * not know that the request succeeded.
   */
  swallow: (pattern: RegExp, times: number) => void;
  /** Undoes `refuse`, `stall` and `cutAt`. */
  pass: () => void;
  /** Cuts each of the next connections that have sent `pattern`, after this many more bytes. */
  cutAt: (cut: Cut) => void;
  /** The number of connections that `cutAt` has cut. */
  cuts: () => number;
}

interface Cut {
  pattern: RegExp;
  afterBytes: number;
  times: number;
}

const join = (client: Socket, service: Socket): void => void client.pipe(service).pipe(client);

function part(client: Socket, service: Socket): void {
  client.unpipe(service).pause();
  service.unpipe(client).pause();
}

const noCut: Cut = { pattern: /(?!)/, afterBytes: 0, times: 0 };

export async function openTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let isRefusing = false;
  /** Each client's connection to the service. */
  const pairs = new Map<Socket, Socket>();
  let isStalled = false;
  let swallowed = { pattern: /(?!)/, times: 0 };
  let cut = noCut;
  let cuts = 0;
  const server = createServer((client) => {
    if (isRefusing) return void client.resetAndDestroy();
    const service = connect(Number(port), hostname);
    const end = () => [client, service].forEach((socket) => socket.destroy());
    let left: number | undefined;
    let isSwallowed = false;
    service.on("data", () => isSwallowed && end());
    client.on("data", (bytes) => {
      if (swallowed.times > 0 && swallowed.pattern.test(bytes.toString("latin1"))) {
        swallowed = { ...swallowed, times: swallowed.times - 1 };
        isSwallowed = true;
      }
      if (left === undefined && cut.times > 0 && cut.pattern.test(bytes.toString("latin1"))) left = cut.afterBytes;
      if (left === undefined) return;
      left -= bytes.length;
      if (left > 0 || cut.times === 0) return;
      cut = { ...cut, times: cut.times - 1 };
      cuts += 1;
      end();
    });
    for (const socket of [client, service]) {
      open.add(socket);
      socket.on("error", end).on("close", () => {
        open.delete(socket);
        end();
      });
    }
    pairs.set(client, service);
    client.on("close", () => pairs.delete(client));
    if (isStalled) [client, service].forEach((socket) => socket.pause());
    else join(client, service);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address() as AddressInfo;
  const breakAll = () => open.forEach((socket) => socket.destroy());
  return {
    url: `http://127.0.0.1:${address.port}`,
    refuse: () => {
      isRefusing = true;
      breakAll();
    },
    stall: () => {
      isStalled = true;
      for (const [client, service] of pairs) part(client, service);
    },
    swallow: (pattern, times) => void (swallowed = { pattern, times }),
    pass: () => {
      isRefusing = false;
      if (isStalled) for (const [client, service] of pairs) join(client, service);
      isStalled = false;
      cut = noCut;
    },
    cutAt: (next) => void (cut = next),
    cuts: () => cuts,
    [Symbol.dispose]: () => {
      breakAll();
      server.close();
    },
  };
}
