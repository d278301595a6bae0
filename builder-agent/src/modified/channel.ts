import type { WebSocket } from "ws";
import { ModifiedOrder } from "../contract.ts";
import { keepConnected, parseMessage, untilClosed } from "../redial.ts";
import { watch } from "../testdrive/watchdog.ts";

export interface ChannelOptions {
  /** A socket that still connects. */
  dial: () => WebSocket;
  onOrder: (order: ModifiedOrder) => void;
  signal: AbortSignal;
}

/** Holds the channel to the session's object until `signal` is aborted, or the Worker does not know the session any more. */
export async function holdChannel({ dial, onOrder, signal }: ChannelOptions): Promise<void> {
  const onText = (text: string) => {
    const order = parseMessage(ModifiedOrder, text);
    if (order) onOrder(order);
  };
  const connect = async () => {
    const socket = dial();
    watch(socket);
    const close = () => socket.terminate();
    signal.addEventListener("abort", close);
    const { end } = await untilClosed(socket, { onText });
    signal.removeEventListener("abort", close);
    return end;
  };
  await keepConnected(connect, { baseDelayMs: 500, maxDelayMs: 15_000, signal });
}
