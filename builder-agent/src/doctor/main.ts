import { access } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ConfigRefused, readConfig } from "../config.ts";
import { imageTypes } from "../contract.ts";
import { findCapabilities, type DoctorConfig } from "./capabilities.ts";
import { formatReport } from "./table.ts";

const usage = "npm run doctor -- [--config FILE | --state DIR]";

/** Exit code 0: this host builds every image type and hosts testdrives. */
async function main(): Promise<number> {
  try {
    const { values } = parseArgs({ options: { config: { type: "string" }, state: { type: "string" } } });
    const { capabilities, report } = await findCapabilities(await findConfig(values));
    console.log(formatReport(report, { colour: process.stdout.isTTY && process.env["NO_COLOR"] === undefined }));
    const isWhole = capabilities.imageTypes.length === imageTypes.length && capabilities.testdrives;
    return isWhole ? 0 : 1;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.error(usage);
    return error instanceof ConfigRefused ? 2 : 1;
  }
}

/** The agent's own configuration where there is one; before the first start, that of the embedded mode. */
async function findConfig(given: { config?: string; state?: string }): Promise<DoctorConfig> {
  if (given.config !== undefined) return await readConfig(given.config, process.env);
  const state = resolve(given.state ?? process.env["KILN_STATE"] ?? ".kiln");
  const embedded = join(state, "agent.json");
  const exists = await access(embedded).then(
    () => true,
    () => false,
  );
  if (exists) return await readConfig(embedded, process.env);
  return { stateDir: join(state, "agent"), isolation: "none", accel: "auto", vnc: null, minFreeGb: 2 };
}

process.exit(await main());
