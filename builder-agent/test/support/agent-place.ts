import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseConfig, type Config } from "../../src/config.ts";
import type { FrozenInput } from "../../src/contract.ts";
import { agentToken } from "../fake-worker.ts";
import { frozenInput } from "./frozen-input.ts";

export const fakeKiwi = fileURLToPath(new URL("../fake-kiwi.sh", import.meta.url));

/** A directory for one test, deleted after it. */
export async function temporaryDir() {
  const path = await mkdtemp(join(tmpdir(), "kiln-agent-test-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export function testConfig(url: string, stateDir: string, more: Record<string, unknown> = {}): Config {
  return parseConfig({ url, token: agentToken, stateDir, isolation: "none", kiwi: fakeKiwi, ...more });
}

export const silent = () => {};

/** Waits until `check` returns a value, for at most two minutes. */
export async function eventually<T>(what: string, check: () => T | undefined | false): Promise<T> {
  for (let waitedMs = 0; waitedMs < 120_000; waitedMs += 20) {
    const found = check();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${what}: not within two minutes`);
}

/** The input of a build in which the fake KIWI follows this scenario (fake-kiwi.sh). */
export const inScenario = (scenario: string, input: FrozenInput = frozenInput()): FrozenInput => ({
  ...input,
  description: { ...input.description, scenario },
});

/** The command lines, by process id, of the processes that work in a directory or below it: KIWI and its children. */
export function processesIn(dir: string): Map<number, string> {
  const found = new Map<number, string>();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readlinkSync(`/proc/${pid}/cwd`).startsWith(`${dir}/`)) continue;
      found.set(Number(pid), readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "));
    } catch {
      // The process has ended.
    }
  }
  return found;
}
