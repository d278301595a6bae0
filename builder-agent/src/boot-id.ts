import { readFile } from "node:fs/promises";

/**
 * Identifies this run of the host's kernel (random(4)). A file that was not flushed to the disk is known to be complete only during
 * that run.
 */
export const bootId = (): Promise<string> => readFile("/proc/sys/kernel/random/boot_id", "utf8");
