import { z } from "zod";
import type { QmpEvent } from "./qmp.ts";

const VncEvent = z.object({
  event: z.enum(["VNC_INITIALIZED", "VNC_DISCONNECTED"]),
  data: z.object({
    server: z.object({ family: z.string() }),
    client: z.object({ host: z.string(), service: z.string() }),
  }),
});

/** Clients of the TCP address by QEMU's events; those of the unix socket are the Worker's, which counts them itself. */
export class TcpViewers {
  readonly #clients = new Set<string>();

  /** → the new count, or undefined where the event changes nothing. */
  note(event: QmpEvent): number | undefined {
    const parsed = VncEvent.safeParse(event);
    if (!parsed.success || !/^ipv[46]$/.test(parsed.data.data.server.family)) return undefined;
    const { event: name, data } = parsed.data;
    const client = `${data.client.host} ${data.client.service}`;
    const before = this.#clients.size;
    if (name === "VNC_INITIALIZED") this.#clients.add(client);
    else this.#clients.delete(client);
    return this.#clients.size === before ? undefined : this.#clients.size;
  }
}
