import { resolve } from "node:path";
import { Complaint } from "../launch/complaint.ts";
import { readReady } from "../launch/ready-file.ts";
import { readSecrets, secretsFile } from "../launch/secrets.ts";
import type { AdminOptions } from "./options.ts";

export type Service = { url: string; secret: string };

/** The service for a command, and its admin secret, from the command line or from a state directory. */
export function getService(options: AdminOptions, env: NodeJS.ProcessEnv): Service {
  const url = options.url ?? env["KILN_URL"];
  return url ? given(url, env["KILN_ADMIN_SECRET"]) : ofState(resolve(options.state ?? (env["KILN_STATE"] || ".kiln")));
}

function given(url: string, secret: string | undefined): Service {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
    throw new Complaint(`--url ${url}: give a URL like https://kiln.example.org.`);
  }
  if (!secret) throw new Complaint("With --url or KILN_URL, give the service's admin secret as KILN_ADMIN_SECRET.");
  if (!/^[\x21-\x7e]+$/.test(secret)) {
    throw new Complaint("KILN_ADMIN_SECRET contains a space, a line break or a character that is not ASCII.");
  }
  return { url: url.replace(/\/+$/, ""), secret };
}

function ofState(state: string): Service {
  const ready = readReady(state);
  if (!ready) {
    throw new Complaint(
      `No service runs on ${state}. Start it with npm start, or name another with --state DIR or --url URL.`,
    );
  }
  const secret = readSecrets(state).ADMIN_SECRET;
  if (!secret) throw new Complaint(`${secretsFile(state)} has no admin secret.`);
  return { url: ready.url, secret };
}
