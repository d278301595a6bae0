import { z } from "zod";
import { guestAddress, visitedPort } from "../contract.ts";
import type { Qmp } from "./qmp.ts";

/** The first port of the sandbox's loopback that QEMU forwards to the guest. The next ones follow it. */
const guestWebPort = 8080;
export const clientsPort = 5900;
/** Sockets in the session's directory that lead to these ports. */
const webSocket = "web.sock";
export const clientsSocket = "clients.sock";

interface Network {
  hasNetwork: boolean;
  enclosed: boolean;
  /** The guest's ports that QEMU forwards to. Default: 80. */
  ports?: readonly number[] | undefined;
}

interface Forward {
  /** The guest's port. */
  port: number;
  /** The port of the sandbox's loopback. */
  inside: number;
  /** The socket in the session's directory. */
  socket: string;
}

/** The port forwards into a guest. */
export const forwardsOf = ({ hasNetwork, ports = [visitedPort] }: Omit<Network, "enclosed">): Forward[] =>
  !hasNetwork
    ? []
    : ports.map((port, index) => ({
        port,
        inside: guestWebPort + index,
        socket: index === 0 ? webSocket : `web-${index}.sock`,
      }));

/**
 * The guest's network card, if it has a network. QEMU gives the guest an address and forwards some ports to it.
 * `restrict=on` drops everything that the guest sends to the host or beyond. QEMU 7.2 cannot forward from a unix
 * socket, so in a sandbox it listens on ports of its loopback. Without one it listens on ports of this host's loopback,
 * which the kernel chooses.
 */
export function networkArguments(network: Network): string[] {
  if (!network.hasNetwork) return ["-nic", "none"];
  const forwards = forwardsOf(network).map(
    ({ port, inside }) => `hostfwd=tcp:127.0.0.1:${network.enclosed ? inside : 0}-${guestAddress}:${port}`,
  );
  const user = ["user", "id=net", "restrict=on", "ipv6=off", `dhcpstart=${guestAddress}`, ...forwards];
  return ["-netdev", user.join(","), "-device", "virtio-net-pci,netdev=net,romfile="];
}

// info usernet:  TCP[HOST_FORWARD]  10  127.0.0.1 33679  10.0.2.15  80  0  0
const connection = /TCP\[(\w+)\]\s+-?\d+\s+127\.0\.0\.1\s+(\d+)\s+10\.0\.2\.15\s+(\d+)\s/g;

/** QEMU's port forwards into the guest, and their open connections. QEMU 7.2 reports them only in its human monitor. */
async function connectionsOf({ execute }: Pick<Qmp, "execute">) {
  const answer = z.string().parse(await execute("human-monitor-command", { "command-line": "info usernet" }));
  return [...answer.matchAll(connection)].map(([, state = "", from, to]) => ({
    state,
    from: Number(from),
    to: Number(to),
  }));
}

/** The port of this host's loopback that leads to a port of the guest. */
export async function forwardedPort(qmp: Pick<Qmp, "execute">, port: number): Promise<number> {
  const forward = (await connectionsOf(qmp)).find(({ state, to }) => state === "HOST_FORWARD" && to === port);
  if (!forward) throw new Error(`QEMU does not forward to port ${port} of the machine`);
  return forward.from;
}

/**
 * Whether the guest has accepted a connection to this port that is still open. QEMU itself accepts each one
 * immediately.
 */
export async function hasAccepted(qmp: Pick<Qmp, "execute">, port: number): Promise<boolean> {
  const notAccepted = new Set(["HOST_FORWARD", "SYN_SENT", "CLOSED", "NONE"]);
  return (await connectionsOf(qmp)).some(({ state, to }) => to === port && !notAccepted.has(state));
}
