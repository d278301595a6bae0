/** npm run deploy: deploys a clone as a service on Cloudflare, and later upgrades it. */
import { deploy } from "./deploy/deploy.ts";
import { runCommand } from "./launch/complaint.ts";

await runCommand("deploy", () => deploy(process.argv.slice(2), process.env));
