import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { keepAgentRunning } from "../../scripts/launch/agent-process.ts";
import { emptyFolder } from "./folder.ts";
import { patienceMs } from "../support/patience.ts";

it("restarts an agent that ends or is killed, with growing delays", async () => {
  let output = "";
  vi.spyOn(process.stderr, "write").mockImplementation((line) => ((output += String(line)), true));
  const folder = emptyFolder();
  // Its configuration is missing, so the agent ends each time it is started.
  const agent = keepAgentRunning(join(folder, "absent.json"), folder);
  onTestFinished(async () => {
    await agent.stop();
    vi.restoreAllMocks();
  });
  const pids: (number | null)[] = [];
  agent.watch((pid) => {
    pids.push(pid);
    if (pids.length === 2) throw new Error("the disk is full");
  });

  process.kill(agent.pid() ?? 0, "SIGKILL");
  await vi.waitFor(() => expect(new Set(pids).size).toBe(3), { timeout: patienceMs });

  const lines = output.split("\n");
  expect(lines[0]).toMatch(/^! The builder agent ended \(SIGKILL\)\. Restarting it in 1 s\./);
  expect(lines[1]).toMatch(/^! The new process id of the builder agent could not be saved: Error: the disk is full$/);
  expect(lines[2]).toMatch(/^! The builder agent ended \(exit \d+\)\. Restarting it in 2 s\. \S.*absent\.json/);
});
