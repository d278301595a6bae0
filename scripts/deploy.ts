/** npm run deploy: takes an operator from a clone to a running service on Cloudflare, and later to its next version. */
import { deploy } from "./deploy/deploy.ts";
import { runCommand } from "./launch/complaint.ts";

await runCommand("deploy", () => deploy(process.argv.slice(2), process.env));
