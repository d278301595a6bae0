import { createHash } from "node:crypto";
import { createServer } from "node:net";

/** Allows one agent per state directory: a second one would delete the files that the first one works on. */
export async function lockStateDir(stateDir: string): Promise<void> {
  const name = createHash("sha256").update(stateDir).digest("hex").slice(0, 32);
  if (await holdName(`kiln-agent-${name}`)) return;
  throw new Error(`another agent uses ${stateDir}: stop it, or give this one its own stateDir`);
}

/**
 * Holds a name in Linux's abstract socket space. The kernel frees it when this process ends, even after SIGKILL.
 * Returns a function that releases the name, or undefined if another process has it.
 */
export async function holdName(name: string): Promise<(() => Promise<void>) | undefined> {
  const server = createServer((socket) => socket.destroy());
  const isHeld = await new Promise<boolean>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(false) : reject(error),
    );
    server.listen(`\0${name}`, () => resolve(true));
  });
  if (!isHeld) return undefined;
  server.unref();
  return () => new Promise((resolve) => server.close(() => resolve()));
}
