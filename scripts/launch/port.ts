import { readdirSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { Complaint } from "./complaint.ts";
import { localUrl } from "./address.ts";
import { readIfThere } from "./private-file.ts";

/** Throws if the service cannot listen on the port, and names the process that uses it. */
export async function checkPort(host: string, port: number): Promise<void> {
  const problem = await tryToListen(host, port);
  if (problem === undefined) return;
  throw new Complaint(messageOf(problem, host, port));
}

function messageOf(problem: string, host: string, port: number): string {
  if (problem === "EADDRINUSE") {
    return `Port ${port} on ${host} is in use${holder(port)}. Stop that process, or choose another port: npm start -- --port ${port + 1}`;
  }
  if (problem === "EACCES") return `Port ${port} needs root. Choose one above 1023: npm start -- --port 8787`;
  if (problem === "EADDRNOTAVAIL") return `${host} is not an address of this machine (--host).`;
  return `The service cannot listen on ${localUrl(host, port)}: ${problem}.`;
}

function tryToListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

/** " by process 123 (python3 -m http.server)", or nothing if this user may not see it. */
function holder(port: number): string {
  const inodes = [...listeners("/proc/net/tcp", port), ...listeners("/proc/net/tcp6", port)];
  const sockets = new Set(inodes.map((inode) => `socket:[${inode}]`));
  const pid = readdirSync("/proc").find(
    (name) => /^\d+$/.test(name) && openFiles(name).some((each) => sockets.has(each)),
  );
  if (pid === undefined) return "";
  const line = readIfThere(`/proc/${pid}/cmdline`)?.replaceAll("\0", " ").trim() ?? "";
  return ` by process ${pid} (${line.slice(0, 100)})`;
}

/**
 * Inodes of the sockets that listen on a port. proc(5): local address is field 2, state (0A: listening) 4, inode 10.
 */
function listeners(table: string, port: number): string[] {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return (readIfThere(table) ?? "")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1]?.endsWith(ending) && fields[3] === "0A")
    .flatMap((fields) => fields[9] ?? []);
}

function openFiles(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((name) => link(`/proc/${pid}/fd/${name}`));
  } catch {
    return []; // another user's, or ended
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
