import { readFileSync, writeFileSync } from "node:fs";
import { marked } from "../scripts/launch/leftovers.ts";

/** The process that runs a service's Worker. */
export function workerdOf(stateDir: string): number {
  const found = marked(stateDir).find((pid) => readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "workerd");
  if (found === undefined) throw new Error("the service has no workerd");
  return found;
}

/** Resident memory of a process, or its peak. */
export function memoryMib(pid: number, name: "VmRSS" | "VmHWM"): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(found?.[1]) / 1024;
}

/** Resets the peak to the current memory of the process (proc(5)). */
export const resetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, "5");
