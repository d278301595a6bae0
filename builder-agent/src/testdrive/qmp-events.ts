import { z } from "zod";
import type { QmpEvent } from "./qmp.ts";

const BlockIoError = z.object({
  event: z.literal("BLOCK_IO_ERROR"),
  data: z.object({ operation: z.string(), nospace: z.boolean().optional(), reason: z.string().optional() }),
});

/**
 * Why a session must end after a failed write to its disk, as a message for its owner. Undefined for any other event.
 */
export function diskFailureOf(event: QmpEvent, diskBytes: number): string | undefined {
  const parsed = BlockIoError.safeParse(event);
  if (!parsed.success || parsed.data.data.operation !== "write") return undefined;
  const { nospace, reason = "no reason given" } = parsed.data.data;
  if (nospace) return "The disk of the builder agent is full.";
  // EFBIG: the write exceeds the limit that QEMU was started with.
  if (reason === "File too large")
    return `The testdrive wrote more than the ${Math.round(diskBytes / 1e6)} MB that it may.`;
  return `The testdrive cannot write to the builder agent's disk: ${reason}.`;
}

const VncEvent = z.object({
  event: z.enum(["VNC_INITIALIZED", "VNC_DISCONNECTED"]),
  data: z.object({
    server: z.object({ family: z.string() }),
    client: z.object({ host: z.string(), service: z.string() }),
  }),
});

/** Counts VNC clients of the TCP address by QEMU's events. The Worker itself counts its clients, on the unix socket. */
export class TcpViewers {
  readonly #clients = new Set<string>();

  /** Returns the new count; undefined if the event changes nothing. */
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
