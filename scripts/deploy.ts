/** npm run deploy: takes an operator from a clone to a running service on Cloudflare, and later to its next version. */
import { deploy } from "./deploy/deploy.ts";
import { Complaint } from "./launch/complaint.ts";

try {
  await deploy(process.argv.slice(2), process.env);
} catch (error) {
  if (error instanceof Complaint) console.error(`kiln: ${error.message}`);
  else console.error("kiln: internal error of the deploy command:", error);
  process.exitCode = error instanceof Complaint ? 1 : 70; // sysexits(3): internal software error
}
