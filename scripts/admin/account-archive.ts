import { resolve } from "node:path";
import { exportAccount } from "../account-archive/export.ts";
import { importAccount } from "../account-archive/import.ts";
import { Complaint } from "../launch/complaint.ts";
import { print, warn } from "../launch/progress.ts";
import type { AdminClient } from "./client.ts";
import type { Given } from "./options.ts";

export async function printExport(admin: AdminClient, username: string, { value }: Given): Promise<void> {
  const file = fileOf("export", value);
  const { appliances, packages, repositories } = await exportAccount(admin, username, file);
  print(
    `Wrote ${file}: ${appliances.length} appliances, ${packages.length} packages, ${repositories.length} repositories. It contains passwords of images.`,
  );
}

/** Imports an archive and prints the result. Fails at the end if the service refused a part of it. */
export async function printImport(admin: AdminClient, username: string, { value }: Given): Promise<void> {
  const imported = await importAccount(admin, username, fileOf("import", value));
  const { password, quotaGb, appliances, skipped, problems } = imported;
  if (password !== undefined) print(`Added the account ${username} with the password ${password}   (shown this once)`);
  if (password !== undefined && quotaGb !== null)
    print(`The account had its own disk quota. To give it the same here: account quota ${username} ${quotaGb}`);
  print(`Made ${appliances} appliances; ${skipped} were there already.`);
  for (const problem of problems) warn(problem);
  if (problems.length > 0) throw new Complaint(`Not imported: ${problems.length}. Fix it, and repeat the command.`);
}

function fileOf(command: string, file: string | undefined): string {
  if (file === undefined) throw new Complaint(`account ${command} takes a NAME and a FILE.`);
  return resolve(file);
}
