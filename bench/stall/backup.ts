import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { backUp } from "../../scripts/backup/backup.ts";
import type { Scenario } from "./scenario.ts";

const objects = 50_000;

/** A backup with the files of this many ended builds. It copies the files without reading their content. */
export const backup: Scenario = {
  name: "backup",
  what: `a backup with ${objects} objects`,
  prepare: async ({ service: { stateDir } }) => {
    const folder = join(stateDir, "worker/do/kiln-Build");
    mkdirSync(folder, { recursive: true });
    const name = (nth: number) => join(folder, `${nth.toString(16).padStart(64, "0")}.sqlite`);
    for (let nth = 0; nth < objects; nth++) writeFileSync(name(nth), "");
    return async () => {
      const file = join(stateDir, "backup.tar");
      const begunAt = performance.now();
      const { stoodStillMs } = await backUp(stateDir, file);
      rmSync(file);
      const seconds = (performance.now() - begunAt) / 1000;
      return `the backup took ${seconds.toFixed(0)} s, and the service stood still for ${stoodStillMs.toFixed(0)} ms`;
    };
  },
};
