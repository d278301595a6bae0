/** The thread of file-hash.ts. Its `workerData` is the path of a file. It sends the digest. */
import { createHash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";

const file = openSync(String(workerData), "r");
const digest = createHash("sha256");
// One buffer serves all reads: a new one for each would cost more in garbage collection than the digest.
const buffer = Buffer.alloc(1024 * 1024);
for (let read; (read = readSync(file, buffer)) > 0;) digest.update(buffer.subarray(0, read));
closeSync(file);
parentPort?.postMessage(digest.digest("hex"));
