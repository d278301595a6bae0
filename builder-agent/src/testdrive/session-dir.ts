import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * The directory for a session's overlay, sockets and serial log. Only the agent's user may enter. Deleted with the
 * session.
 */
export interface SessionDir extends AsyncDisposable {
  path: string;
  file(name: string): string;
  /** A short path for `connect`: the path of a unix socket may have at most 107 bytes. */
  socket(name: string): string;
}

export const sessionsDir = (stateDir: string) => join(stateDir, "testdrives");

export async function makeSessionDir(stateDir: string, name: number | string): Promise<SessionDir> {
  const path = join(sessionsDir(stateDir), String(name));
  await rm(path, { recursive: true, force: true });
  await mkdir(path, { recursive: true, mode: 0o700 });
  const handle = await open(path);
  return {
    path,
    file: (name) => join(path, name),
    socket: (name) => `/proc/self/fd/${handle.fd}/${name}`,
    async [Symbol.asyncDispose]() {
      await handle.close();
      await rm(path, { recursive: true, force: true });
    },
  };
}
