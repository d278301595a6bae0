/** The thread in which delta.ts reads a disk. Its `workerData` has `disk` and `block`. It sends the disk's `Blocks`. */
import { parentPort, workerData } from "node:worker_threads";
import { readBlocks } from "../delta.ts";

const { disk, block } = workerData as { disk: string; block: number };
parentPort?.postMessage(await readBlocks(disk, block));
