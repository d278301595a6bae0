import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Credentials } from "../client/client.ts";
import type { PublicKey } from "../attest.ts";
import { Complaint } from "../complaint.ts";
import { namesIn, readIfThere } from "../files.ts";

/** A public key that signs the provenance of images. */
export type PinnedKey = PublicKey;

/** The data that `kiln login` stores for one address, in a file that only its owner can read. */
export interface Login extends Credentials {
  /** The keys that the service had at the first login, and others that the user accepted. */
  keys: readonly PinnedKey[];
}

const folder = (): string => join(process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "kiln");
const fileOf = (url: string): string => join(folder(), `${encodeURIComponent(url)}.json`);
const currentFile = (): string => join(folder(), "current");

/** Normalises an address: adds a scheme, and removes the path. */
export function addressOf(text: string): string {
  const address = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.hostname && url.username === "" && url.pathname === "/") return url.origin;
  throw new Complaint("misused", `${text} is not the address of a service.`, "Write it as https://kiln.example.org.");
}

/** The login of --url, of KILN_URL or of the last `kiln login`. KILN_TOKEN replaces the stored secret. */
export function readLogin(given: string | undefined): Login {
  const url = currentAddress(given);
  const stored = storedLogin(url);
  if (process.env["KILN_TOKEN"] && !process.env["KILN_INSECURE"]) refuseUnencrypted(url);
  const secret = process.env["KILN_TOKEN"] ?? stored?.secret;
  const account = process.env["KILN_ACCOUNT"] ?? stored?.account;
  if (!secret) throw signedOut(`You are not signed in to ${url}.`);
  if (!account)
    throw new Complaint("signedOut", "KILN_TOKEN needs the name of its account.", "Set KILN_ACCOUNT to it.");
  return { url, account, secret, keys: stored?.keys ?? [] };
}

/** The address of the service that a command uses. */
function currentAddress(given: string | undefined): string {
  const address = given ?? process.env["KILN_URL"] ?? readIfThere(currentFile())?.toString().trim();
  if (!address) throw signedOut("You are not signed in.");
  return addressOf(address);
}

/** Removes what `kiln login` stored for an address, and returns the address. */
export function forgetLogin(given: string | undefined): string {
  const url = currentAddress(given);
  if (!storedLogin(url))
    throw new Complaint("notFound", `You are not signed in to ${url}.`, "`kiln whoami` shows where you are signed in.");
  rmSync(fileOf(url));
  if (readIfThere(currentFile())?.toString().trim() === url) rmSync(currentFile());
  return url;
}

/** Refuses http to another machine, on which secrets could be read. */
export function refuseUnencrypted(url: string): void {
  const { protocol, hostname } = new URL(url);
  if (protocol === "https:" || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)) return;
  throw new Complaint(
    "misused",
    `${url} is not encrypted: others on the network could read your key.`,
    "Use https. If the network is yours: `kiln login --insecure`, or KILN_INSECURE=1 with KILN_TOKEN.",
  );
}

const signedOut = (message: string): Complaint =>
  new Complaint("signedOut", message, "Run `kiln login ADDRESS`; in CI, set KILN_URL, KILN_ACCOUNT and KILN_TOKEN.");

export function storedLogin(url: string): Login | undefined {
  return readLoginFile(fileOf(url));
}

/** All addresses that the user is signed in to. */
export function storedLogins(): Login[] {
  return storedFiles(".json").flatMap((file) => readLoginFile(file) ?? []);
}

/** The files with this end of their name, next to the logins. */
export const storedFiles = (end: string): string[] =>
  namesIn(folder())
    .filter((name) => name.endsWith(end))
    .map((name) => join(folder(), name));

/** Stores a file next to the logins. */
export function storeFile(name: string, text: string): void {
  mkdirSync(folder(), { recursive: true, mode: 0o700 });
  writePrivately(join(folder(), name), text);
}

/** Stores a login, and makes it the one that commands use. */
export function storeLogin(login: Login): void {
  mkdirSync(folder(), { recursive: true, mode: 0o700 });
  writePrivately(fileOf(login.url), `${JSON.stringify(login, null, 2)}\n`);
  writePrivately(currentFile(), `${login.url}\n`);
}

/** Writes the file. A rename makes it visible only when it is complete and private. */
function writePrivately(file: string, text: string): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, file);
}

function readLoginFile(file: string): Login | undefined {
  const text = readIfThere(file);
  try {
    return text && (JSON.parse(text.toString()) as Login);
  } catch {
    throw new Complaint("refused", `${file} is damaged.`, "Delete it, then run `kiln login ADDRESS` again.");
  }
}
