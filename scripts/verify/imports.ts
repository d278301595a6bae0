import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { packageTypeOfBase, type Catalogue } from "#model/catalogue";
import type { AdminClient } from "../admin/client.ts";
import { readCatalogue } from "../launch/catalogue-file.ts";
import { Complaint } from "../launch/complaint.ts";
import { importsOf } from "../launch/debian.ts";
import { projectRoot } from "../launch/project.ts";

/** The launcher adds the releases of Debian one after the other, each after the previous imports have ended. */
const offerSeconds = 900;
const lookEveryMs = 1_000;

type Admin = Pick<AdminClient, "catalogues" | "loadCatalogue">;
type Waiting = { signal: AbortSignal; within?: number };

/** Waits until the service has imported a base system's repositories, and returns their URLs. */
export async function importRepositories(
  admin: Admin,
  { name, baseSystem }: Catalogue,
  { signal, within = offerSeconds }: Waiting,
): Promise<string> {
  const known = async () => (await admin.catalogues()).find((one) => one.name === name);
  if (packageTypeOfBase(baseSystem) === "rpm" && !(await known())) {
    // Sends the file's own form, because the service reads it with the same schema.
    await admin.loadCatalogue(name, readCatalogue(join(projectRoot, "templates", `${name}.json`)));
  }
  const until = Date.now() + within * 1000;
  while (!(await known())) {
    if (Date.now() > until) throw new Complaint(`The service does not offer ${name} after ${within} s.`);
    await sleep(lookEveryMs, undefined, { signal });
  }
  const problems = await importsOf(admin, name, signal);
  if (problems.length > 0) throw new Complaint(problems.map(({ name, problem }) => `${name}: ${problem}`).join("; "));
  return ((await known())?.repositories ?? []).map(({ url }) => url).join(", ");
}
