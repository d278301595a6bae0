import { z } from "zod";
import { guestAddress } from "../contract.ts";
import type { Qmp } from "./qmp.ts";

/** Ports of QEMU on the loopback of the sandbox. */
export const guestWebPort = 8080;
export const clientsPort = 5900;
/** Sockets in the session's directory that lead to these ports. */
export const webSocket = "web.sock";
export const clientsSocket = "clients.sock";

/**
 * The guest's network card, if it has a network. QEMU gives the guest an address and forwards one port to it. `restrict=on` drops
 * everything that the guest sends to the host or beyond. QEMU 7.2 cannot forward from a unix socket, so in a sandbox it listens on
 * a port of its loopback. Without one it listens on a port of this host's loopback, which the kernel chooses.
 */
export function networkArguments({ hasNetwork, enclosed }: { hasNetwork: boolean; enclosed: boolean }): string[] {
  if (!hasNetwork) return ["-nic", "none"];
  const forward = `hostfwd=tcp:127.0.0.1:${enclosed ? guestWebPort : 0}-${guestAddress}:80`;
  const user = ["user", "id=net", "restrict=on", "ipv6=off", `dhcpstart=${guestAddress}`, forward];
  return ["-netdev", user.join(","), "-device", "virtio-net-pci,netdev=net,romfile="];
}

// info usernet:  TCP[HOST_FORWARD]  10  127.0.0.1 33679  10.0.2.15  80  0  0
const forwardLine = /TCP\[HOST_FORWARD\]\s+\d+\s+127\.0\.0\.1\s+(\d+)\s/;

/** The port of this host's loopback that leads to the guest's web server. QEMU 7.2 reports it only in its human monitor. */
export async function forwardedPort(qmp: Qmp): Promise<number> {
  const told = await qmp.execute("human-monitor-command", { "command-line": "info usernet" });
  const [, port] = forwardLine.exec(z.string().parse(told)) ?? [];
  if (port === undefined) throw new Error("QEMU does not forward to the machine's web server");
  return Number(port);
}
