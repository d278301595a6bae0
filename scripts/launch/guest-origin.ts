import { guestOrigin, guestOriginProblem } from "../../src/domain/testdrives/guest-origin.ts";
import { isLoopback } from "./address.ts";
import { Complaint } from "./complaint.ts";
import type { LaunchOptions } from "./options.ts";
import { warn } from "./progress.ts";

/** Refuses an invalid TESTDRIVE_ORIGIN, and warns if people on other machines cannot see a testdrive's web pages. */
export function checkGuestOrigin({ baseUrl, host, vars }: Pick<LaunchOptions, "baseUrl" | "host" | "vars">): void {
  const { TESTDRIVE_ORIGIN = "" } = vars;
  const problem = guestOriginProblem({ MODE: "embedded", BASE_URL: baseUrl, TESTDRIVE_ORIGIN });
  if (problem !== undefined) throw new Complaint(`KILN_VARS: ${problem}`);
  const isLocal = baseUrl === "" ? isLoopback(host) : guestOrigin({ TESTDRIVE_ORIGIN }, baseUrl) !== undefined;
  if (isLocal || TESTDRIVE_ORIGIN !== "") return;
  warn("Testdrives with network=on work only at http://localhost: web pages of guests need their own host name.");
  warn(`Give this service a second name, e.g. KILN_VARS='{"TESTDRIVE_ORIGIN":"http://guests.example.lan:8787"}'.`);
}
