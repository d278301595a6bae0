/** The operator's commands against a running service: accounts, agents, template catalogues. */
import { administer } from "./admin/commands.ts";
import { Complaint } from "./launch/complaint.ts";

try {
  await administer(process.argv.slice(2), process.env);
} catch (error) {
  if (error instanceof Complaint) console.error(`kiln: ${error.message}`);
  else console.error("kiln: internal error of the admin command:", error);
  process.exitCode = error instanceof Complaint ? 1 : 70; // sysexits(3): internal software error
}
