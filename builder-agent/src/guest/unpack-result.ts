/**
 * A separate program: unpacks a guest's result disk into the working directory, as a user who owns nothing else.
 *
 *     node unpack-result.ts DISK UID MAX_BYTES
 */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { writeResult } from "./write-result.ts";

const [disk = "", user = "", maxBytes = ""] = process.argv.slice(2);
const source = await open(disk);
becomeUser(Number(user));
const stream = createReadStream("", { fd: source.fd, autoClose: false, highWaterMark: 1024 * 1024 });
await writeResult(stream, { dir: ".", maxBytes: Number(maxBytes) });

function becomeUser(user: number): void {
  if (process.getuid?.() !== 0) return;
  process.setgroups?.([]);
  process.setgid?.(user);
  process.setuid?.(user);
}
