import { Actor, currentActor } from "../runtime/actors.ts";
import type { Network } from "../runtime/network.ts";
import { DialledSocket } from "../runtime/sockets.ts";

let network: Network;
export const useNetwork = (given: Network): void => void (network = given);

/** Replaces the package `ws`. */
export class WebSocket extends DialledSocket {
  constructor(address: string, _protocols: string[], { headers }: { headers: Record<string, string> }) {
    super(currentActor() ?? new Actor("agent", "unknown"), network.dial(address, headers));
  }
}
