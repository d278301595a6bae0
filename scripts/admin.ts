/** The operator's commands against a running service: accounts, agents, template catalogues. */
import { administer } from "./admin/commands.ts";
import { runCommand } from "./launch/complaint.ts";

await runCommand("admin", () => administer(process.argv.slice(2), process.env));
