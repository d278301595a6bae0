import { connect } from "cloudflare:sockets";

/** Opens a TCP connection to a port of one fixed host. */
export type ConnectTo = (port: number) => Socket;

/** Connects directly from the runtime. IPv6 addresses are in brackets. */
export const connectDirectly = (hostname: string, port: number): Socket => connect({ hostname, port });
