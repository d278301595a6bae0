import { readFile } from "node:fs/promises";

/**
 * Names this run of the host's kernel (random(4)). What nobody has waited for until it was on the disk is known to be whole only as
 * long as that run lasts.
 */
export const bootId = (): Promise<string> => readFile("/proc/sys/kernel/random/boot_id", "utf8");
