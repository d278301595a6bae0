import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { emptyFolder } from "./folder.ts";

const module = join(import.meta.dirname, "../../scripts/verify/report-file.ts");

/** One step, which lasts until the verification is interrupted. */
const script = (report: string) => `
  import { setTimeout as sleep } from "node:timers/promises";
  import { verifyImage } from ${JSON.stringify(module)};
  const verifying = { title: "Machines", command: "verify:machines", report: ${JSON.stringify(report)} };
  await verifyImage(verifying, ({ record, signal }) =>
    record.step({ of: "one", what: "boot", seen: () => "" }, async () => {
      process.kill(process.pid, "SIGTERM");
      await sleep(60_000, undefined, { signal });
    }));
`;

it("reports an interrupted verification without an error", async () => {
  const report = join(emptyFolder(), "machines.md");
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script(report)]);
  const [printed, [code]] = await Promise.all([text(child.stderr), once(child, "close"), text(child.stdout)]);
  expect(printed).not.toContain("Error");
  expect(code).toBe(1);
  expect(readFileSync(report, "utf8")).toContain("It was interrupted.");
});
