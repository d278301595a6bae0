import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { shims } from "../../src/run/kiwi.ts";
import { eventually, temporaryDir } from "../support/agent-place.ts";

const sh = (script: string) => execFileSync("sh", ["-ec", script], { encoding: "utf8" }).trim();

/** Whether a process waits for a `sleep`. */
const sleeps = ({ pid }: ChildProcess) => spawnSync("pgrep", ["-x", "-P", String(pid), "sleep"]).status === 0;

// The test needs root, as the agent does.
it.each([
  { option: "--add", isThereAfter: true },
  { option: "--delete", isThereAfter: false },
])("partx $option waits for a program that has the partition open", async ({ option, isThereAfter }) => {
  await using dir = await temporaryDir();
  const disk = join(dir.path, "disk.raw");
  const device = sh(
    `truncate -s 16M "${disk}"; echo 'label: dos\n2048,,83' | sfdisk -q "${disk}" >&2; losetup --find --show "${disk}"`,
  );
  onTestFinished(() => void sh(`partx --delete ${device} 2> /dev/null || true; losetup --detach ${device}`));
  sh(`partx --add ${device}`);
  const open = openSync(`${device}p1`, "r");

  const shim = spawn(join(shims, "partx"), [option, device], { stdio: "ignore" });
  const ended = once(shim, "exit");
  await eventually("it has tried, and waits", () => sleeps(shim));
  closeSync(open);

  expect(await ended).toEqual([0, null]);
  expect(existsSync(`${device}p1`)).toBe(isThereAfter);
});
