import type { TestdriveStatus } from "../pages/testdrive/status.ts";

/** The testdrive session of this page. */
export interface Session {
  /** Undefined while the service cannot be reached. */
  status: () => Promise<TestdriveStatus | undefined>;
  stop: () => Promise<TestdriveStatus | undefined>;
  socketUrl: URL;
}

export function sessionAt(location: Location): Session {
  const base = `${location.origin}${location.pathname.replace(/\/+$/, "")}`;
  return {
    status: () => ask(`${base}/state`, "GET"),
    stop: () => ask(`${base}/stop`, "POST"),
    socketUrl: new URL(`${base.replace(/^http/, "ws")}/socket`),
  };
}

async function ask(url: string, method: string): Promise<TestdriveStatus | undefined> {
  try {
    const answer = await fetch(url, { method, signal: AbortSignal.timeout(10_000) });
    const status: unknown = await answer.json();
    return answer.ok && isStatus(status) ? status : undefined;
  } catch {
    return undefined;
  }
}

/** A proxy may have answered instead of our server. */
const isStatus = (given: unknown): given is TestdriveStatus =>
  typeof given === "object" && given !== null && "state" in given && "secondsLeft" in given;
