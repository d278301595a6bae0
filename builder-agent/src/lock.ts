import { createHash } from "node:crypto";
import { createServer } from "node:net";

/**
 * One agent per state directory: a second one would clean away the first one's work. The lock is a name in Linux's
 * abstract socket space, which the kernel frees when its holder is gone, SIGKILL included.
 */
export async function lockStateDir(stateDir: string): Promise<void> {
  const name = createHash("sha256").update(stateDir).digest("hex").slice(0, 32);
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", () =>
      reject(new Error(`another agent works in ${stateDir}: stop it, or give this one its own stateDir`)),
    );
    server.listen(`\0kiln-agent-${name}`, resolve);
  });
  server.unref();
}
