import { execFileSync } from "node:child_process";

/** Adds an account as the operator does; its API key. */
export function addAccount(name: string, stateDir: string): string {
  const words = ["account", "add", name, "--email", `${name}@example.org`, "--state", stateDir];
  const said = execFileSync(process.execPath, ["scripts/node24.mjs", "scripts/admin.ts", ...words]).toString();
  const key = /API key\s+(\S+)/.exec(said)?.[1];
  if (key === undefined) throw new Error(`the account ${name} has no key: ${said}`);
  return key;
}
