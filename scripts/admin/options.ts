import { parseArgs } from "node:util";
import { Complaint, orComplaint } from "../launch/complaint.ts";
import { readTextOrInput } from "../launch/given-file.ts";
import { warn } from "../launch/progress.ts";
import { resolve } from "node:path";
import { readReady } from "../launch/ready-file.ts";
import { readSecrets, secretsFile } from "../launch/secrets.ts";

export const usage = `npm run admin -- COMMAND

  account add NAME --email ADDRESS [--display-name TEXT] [--api-key-file FILE] [--password-file FILE]
  account export NAME FILE  writes its appliances, packages and repositories' addresses into FILE, with passwords
  account import NAME FILE  makes them again in an account of this name, here or in another service
  account list
  account lock|unlock NAME  a locked account cannot sign in; its builds and testdrives end
  account operator NAME on|off  whether the account sees the operator's pages, at /service
  account password NAME [--password-file FILE]
  account quota NAME [GB|default]  shows its disk quota, or sets it
  account rekey NAME       a new API key; the old one stops working immediately
  account remove NAME      removes the account with everything that belongs to it
  advisories import FEED FILE
                           replaces the advisories of a feed: debian, dsa, osv or exploited
  advisories follow FEED [URL]
                           reads a feed from an address once a day; without one, ends that
  advisories list          lists the feeds, and when each was read
  agent add NAME           prints the agent's token, once
  agent drain|resume NAME  a drained agent ends what it has, and gets nothing new
  agent list
  agent remove NAME
  agreements list          which accounts accepted which legal agreement, and when
  audit list [--account NAME] [--before ID]  what was done in the last 90 days; at most 500 entries, the latest first
  backup FILE              writes all data and secrets of the service on --state DIR, which may be running, into FILE
  builds queued|running|failed  the builds of all accounts; at most 50, of failed ones the latest 20
  builds cancel|again ID   ends a build that has not ended; makes a failed one again
  deletions pause|resume|status  while they are paused, the sweep deletes nothing (before a restore)
  health                   whether work flows, and if not, why; so does the exit code
  keys reencrypt           encrypts again, with the first API_KEY_ENCRYPTION_KEY, what an older key has encrypted
  keys rehash              makes API keys work again after API_KEY_PEPPER has changed
  keys resign              signs again the documents of images that a leaked ATTESTATION_KEY has signed
  metrics                  what Prometheus reads
  read-only on|off|status  while it is on, no account can change or build an appliance
  restore FILE             makes --state DIR, which must be empty or not exist, from the FILE of a backup
  sessions list NAME       the browsers that an account is signed in with
  sessions revoke NAME [ID]  signs one of them out, or all
  templates list           the catalogues with the state of their repositories
  templates load FILE      loads or updates a catalogue, e.g. templates/tiny.json
  tokens list NAME         the tokens of an account, and when each was last used
  tokens revoke ID         the token stops working immediately

Secrets:
  --password-file FILE, --api-key-file FILE   its only line is the secret; - reads standard input
  --password TEXT, --api-key KEY              other users of this machine can see them

Which service:
  --url URL                or KILN_URL; with it, KILN_ADMIN_SECRET
  --state DIR              or KILN_STATE; the service that npm start runs on DIR (default: .kiln)

  --help
`;

const known = {
  email: { type: "string" },
  "display-name": { type: "string" },
  "api-key": { type: "string" },
  "api-key-file": { type: "string" },
  password: { type: "string" },
  "password-file": { type: "string" },
  account: { type: "string" },
  before: { type: "string" },
  url: { type: "string" },
  state: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

export type AdminOptions = ReturnType<typeof parseAdminLine>["options"];
/** The options, and the value after the argument of a command that takes one. */
export type Given = AdminOptions & { value?: string | undefined };

const passwordOptions = ["password", "password-file"] as const;
const accountOptions = ["email", "display-name", "api-key", "api-key-file", ...passwordOptions] as const;

/** The words of the command, and its options. Refuses options of other commands. */
export function parseAdminLine(argv: readonly string[]) {
  const { positionals: words, values: options } = parse(argv);
  const command = words.slice(0, 2).join(" ");
  const foreign = accountOptions.find(
    (name) =>
      options[name] !== undefined && !(command === "account password" && passwordOptions.some((each) => each === name)),
  );
  if (command !== "account add" && foreign !== undefined && !options.help)
    throw new Complaint(`--${foreign} belongs to account add.`);
  if (options["api-key-file"] === "-" && options["password-file"] === "-")
    throw new Complaint("Standard input has only one of the two secrets: name a file for the other.");
  if (command !== "audit list" && (options.account ?? options.before) !== undefined && !options.help)
    throw new Complaint("--account and --before belong to audit list.");
  return { words, options };
}

const parse = (argv: readonly string[]) =>
  orComplaint(() => parseArgs({ args: [...argv], options: known, allowPositionals: true }), usage);

type Secret = "password" | "api-key";

/** An option's secret, from the file that `--NAME-file` names, from standard input (`-`), or from the command line. */
export async function secretOf(options: AdminOptions, name: Secret): Promise<string | undefined> {
  const [given, file] = [options[name], options[`${name}-file`]];
  if (given !== undefined && file !== undefined) throw new Complaint(`Give --${name} or --${name}-file, not both.`);
  if (given !== undefined) {
    warn(
      `Other users of this machine can see --${name} while the command runs. Use --${name}-file FILE, or - for stdin.`,
    );
  }
  return file === undefined ? given : withoutLineEnd(await readTextOrInput(file), name);
}

function withoutLineEnd(content: string, name: Secret): string {
  const secret = content.replace(/\r?\n$/, "");
  if (secret === "") throw new Complaint(`The ${name} is empty.`);
  if (/[\r\n]/.test(secret)) throw new Complaint(`The ${name} must be a single line.`);
  return secret;
}

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
