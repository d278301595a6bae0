import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The TCP addresses on which the process with this working directory listens, from /proc. */
export function listenersIn(dir: string): string[] {
  const isNumber = /^\d+$/;
  const pids = readdirSync("/proc").filter((name) => isNumber.test(name) && linkOf(`/proc/${name}/cwd`) === dir);
  return listenersOf(pids.map(Number));
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

/** The TCP addresses on which these processes listen. */
export const listenersOf = (pids: readonly number[]): string[] => pids.flatMap(listenersOfOne);

function listenersOfOne(pid: number): string[] {
  const sockets = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`)));
  return ["tcp", "tcp6"].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === "0A" && sockets.has(`socket:[${inode}]`))
      .map(([, local = ""]) => addressOf(local)),
  );
}

/** `0100007F:1F90` → 127.0.0.1:8080; IPv6 addresses unchanged. */
function addressOf(hex: string): string {
  const [address = "", port = ""] = hex.split(":");
  const bytes = Buffer.from(address, "hex").toReversed();
  return `${bytes.length === 4 ? [...bytes].join(".") : address}:${Number.parseInt(port, 16)}`;
}
