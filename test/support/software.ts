import type { Client } from "./client.ts";
import { readXml } from "./xml.ts";

/** A clone of the plain template that selects only the pattern `base`. Returns its id. */
export const cloned = async (tux: Client): Promise<string> =>
  (await readXml(await tux.post("/appliances", { clone_from: 1, arch: "x86_64" }))).appliance.id;

/** The result of a command on the selection. */
export const change = async (answer: Response) => (await readXml(answer)).success.details.status;
