/*
 * QEMU's parent in the sandbox of a session (session-sandbox.ts): `socket-bridge.ts USER NAME=PORT,… COMMAND …`. Only
 * unix sockets lead into a network namespace, and QEMU 7.2 cannot forward from them. So this program joins each of
 * these sockets to a port of QEMU.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { constants } from "node:os";
import { pipeline } from "node:stream/promises";

const [user = "", ways = "", program = "", ...args] = process.argv.slice(2);
for (const way of ways.split(",")) await open(way);
const qemu = spawn(program, args, { stdio: ["ignore", "inherit", "inherit", 3] });
qemu.on("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(127);
});
qemu.on("exit", (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)));
if (user !== "") become(Number(user));

async function open(way: string): Promise<void> {
  const [name = "", port] = way.split("=");
  rmSync(name, { force: true });
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const inside = connect({ host: "127.0.0.1", port: Number(port), allowHalfOpen: true });
    for (const stream of [client, inside]) stream.on("error", () => {});
    const both = [pipeline(client, inside), pipeline(inside, client)];
    Promise.all(both).catch(() => [client, inside].map((stream) => stream.destroy()));
  });
  server.listen(name);
  await once(server, "listening");
}

/** Drops root's rights, because nothing here needs them after the start of QEMU. */
function become(id: number): void {
  process.setgroups?.([]);
  process.setgid?.(id);
  process.setuid?.(id);
}
