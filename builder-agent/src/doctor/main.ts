import { parseArgs } from "node:util";
import { orRefuse, UsageRefused } from "../command-line.ts";
import { ConfigRefused } from "../config.ts";
import { imageTypes } from "../contract.ts";
import { getConfig } from "../found-config.ts";
import { ownCommand } from "../own-command.ts";
import { getCapabilities } from "./capabilities.ts";
import { formatReport } from "./table.ts";

const usage = `${ownCommand("doctor", "[options]")}

Reports what this host can build, what is missing, and how to fix it.

  --config FILE   of a builder agent: checks the host as that agent uses it
  --state DIR     of npm start: checks the host for the agent that runs there (.kiln)
  --help
`;
const options = {
  config: { type: "string" },
  state: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

/** Exit code 0: this host builds every image type and hosts testdrives. */
async function main(): Promise<number> {
  process.umask(0o022); // as in the agent
  try {
    const { values } = orRefuse(() => parseArgs({ options }), usage);
    if (values.help) {
      console.log(usage);
      return 0;
    }
    const { capabilities, report } = await getCapabilities(await getConfig(values));
    console.log(formatReport(report, { colour: process.stdout.isTTY && process.env["NO_COLOR"] === undefined }));
    const isWhole = capabilities.imageTypes.length === imageTypes.length && capabilities.testdrives;
    return isWhole ? 0 : 1;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return error instanceof ConfigRefused || error instanceof UsageRefused ? 2 : 1;
  }
}

process.exit(await main());
