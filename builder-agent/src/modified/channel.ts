import type { WebSocket } from "ws";
import { ModifiedOrder } from "../contract.ts";
import { stayConnected, parseMessage, untilClosed, watch } from "../redial.ts";

export interface ChannelOptions {
  /** Returns a socket before it is connected. */
  dial: () => WebSocket;
  onOrder: (order: ModifiedOrder) => void;
  signal: AbortSignal;
}

/** Keeps the channel to the session's object open until `signal` is aborted or the Worker no longer knows the session. */
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
  await stayConnected(connect, { baseDelayMs: 500, maxDelayMs: 15_000, signal });
}
