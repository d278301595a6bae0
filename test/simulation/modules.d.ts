/** Modules of the builder agent, which `bundle.ts` resolves. Their own types belong to another runtime. */
declare module "agent:agent" {
  export const runAgent: (parts: object, signal: AbortSignal) => Promise<void>;
}
declare module "agent:queue" {
  export const connectQueue: (config: { queueUrl: string; queueToken: string }) => object;
}
declare module "agent:worker-api" {
  export const connectWorker: (
    config: { url: string; token: string },
    incarnation: { host: string; start: number },
  ) => { hello(capabilities: object, signal: AbortSignal): Promise<object> };
}
declare module "agent:retry" {
  export class RemoteRefusal extends Error {
    readonly status: number;
  }
  export const withRetry: <T>(
    work: () => Promise<T>,
    tries: { attempts: number; baseDelayMs: number; maxDelayMs: number; signal: AbortSignal },
  ) => Promise<T>;
}
declare module "agent:heartbeat" {
  import type { Heartbeat } from "#lib/contract/index";
  export type StopReason = "cancelled" | "late" | "released" | "time_limit" | "no_room";
  export const startHeartbeat: (options: {
    send: (beat: Heartbeat, signal: AbortSignal) => Promise<{ cancel: boolean }>;
    beat: () => Heartbeat;
    onStop: (reason: StopReason) => void;
    log: (text: string, facts?: object) => void;
  }) => AsyncDisposable;
}
