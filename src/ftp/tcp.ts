import { connect } from "cloudflare:sockets";

/** Opens a TCP connection to a port of the one host that it is for. */
export type ConnectTo = (port: number) => Socket;

/** Straight to the network that the runtime is in. IPv6 addresses in brackets. */
export const connectDirectly = (hostname: string, port: number): Socket => connect({ hostname, port });
