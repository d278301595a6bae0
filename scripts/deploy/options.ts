import { parseArgs } from "node:util";
import { Complaint, orComplaint } from "../launch/complaint.ts";

export const usage = `npm run deploy -- [options]

Creates what is missing on Cloudflare, migrates the database, deploys the Worker, and adds the first account, base
system and agent. Run it again after an interruption, and for each new version.

  --plan                 shows what would be done, and does nothing
  --redeploy             deploys the code even if it is the same (after a restore of the database)
  --env NAME             the environment: production (default), or another name for a second service
  --account-id ID        the Cloudflare account, if your login can use several
  --host NAME            the service's host name, in a zone of that account: kiln.example.org
  --guests-host NAME     another host name, best under another domain, for web pages of guests
  --queue-token-file FILE  its only line is an API token with Queues: Edit; - reads standard input
  --account NAME         the first account (default: admin)
  --email ADDRESS        its address
  --base FILE            the catalogue of the first base system (default: templates/debian-13.json)
  --agent NAME           the first builder agent
  --url URL              or KILN_URL: where this machine reaches the service, if that is not https://HOST
  --help

Answers are stored in deploy/ENV/settings.json. Without a terminal nothing is asked: give the options.
`;

const known = {
  plan: { type: "boolean", default: false },
  redeploy: { type: "boolean", default: false },
  env: { type: "string", default: "production" },
  "account-id": { type: "string" },
  host: { type: "string" },
  "guests-host": { type: "string" },
  "queue-token-file": { type: "string" },
  account: { type: "string" },
  email: { type: "string" },
  base: { type: "string" },
  agent: { type: "string" },
  url: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

export type DeployOptions = ReturnType<typeof parse>;

/** Names that would make queue names of two environments equal: kiln-slow-imports is production's. */
const reserved = ["slow", "dead"];

/** The options of the command line. Refuses invalid names of environments and hosts. */
export function parseDeployLine(argv: readonly string[]): DeployOptions {
  const options = parse(argv);
  if (!/^[a-z][a-z0-9]{0,19}$/.test(options.env) || reserved.includes(options.env)) {
    throw new Complaint(`--env ${options.env}: give up to 20 lower-case letters and digits, and not slow or dead.`);
  }
  checkHost("--host", options.host);
  checkHost("--guests-host", options["guests-host"]);
  return options;
}

/** Refuses everything that is not a plain host name. */
export function checkHost(name: string, host: string | undefined): void {
  const isName = host === undefined || /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/.test(host);
  if (!isName) throw new Complaint(`${name} ${host}: give a host name like kiln.example.org, in lower case.`);
}

const parse = (argv: readonly string[]) =>
  orComplaint(() => parseArgs({ args: [...argv], options: known }), usage).values;
