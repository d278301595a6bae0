import type { TestdriveStatus } from "../pages/testdrive/status.ts";

/** The state of the screen's connection. In state `lost`, it reconnects automatically. */
export type ConsoleState = "connecting" | "connected" | "lost" | "closed";

/** The status text of the page, and its colour. */
export interface Words {
  text: string;
  tone: "busy" | "good" | "bad" | "ended";
}

export function wordsFor(status: TestdriveStatus | undefined, console: ConsoleState): Words {
  if (status?.state === "ended") return { text: `Ended: ${status.message}`, tone: "ended" };
  if (console === "connected") return { text: connected(status), tone: "good" };
  if (status?.state === "preparing")
    return { text: `Preparing: ${status.message || "a builder accepted it"} …`, tone: "busy" };
  if (status?.state === "waiting") return { text: "Waiting for a builder …", tone: "busy" };
  if (console === "lost") return { text: "Connection lost. Trying again …", tone: "bad" };
  return { text: "Connecting …", tone: "busy" };
}

const connected = (status: TestdriveStatus | undefined): string =>
  status?.state === "running" && status.message !== "" ? `Connected. ${status.message}` : "Connected";

/** `59:07`, or `1:02:03` above an hour. */
export function clock(seconds: number): string {
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, "0"));
  const hours = Math.floor(seconds / 3600);
  return hours > 0 ? [hours, ...parts].join(":") : parts.join(":").replace(/^0/, "");
}
