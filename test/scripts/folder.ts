import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** An empty folder that is deleted after the test. */
export function emptyFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "kiln-scripts-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
