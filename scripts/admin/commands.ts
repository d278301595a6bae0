import { progressWords } from "#model/import-progress";
import { administerFiles } from "./file-commands.ts";
import { advisoryCommands } from "./advisories.ts";
import { listAgreements } from "./agreements.ts";
import { buildCommands } from "./builds.ts";
import { printExport, printImport } from "./account-archive.ts";
import { Complaint } from "../launch/complaint.ts";
import { loadCatalogueFile } from "../launch/catalogue-file.ts";
import { print } from "../launch/progress.ts";
import { type AdminClient, adminClient, type DeletionPause, type Quota, type ReadOnlyMode } from "./client.ts";
import { type AdminOptions, getService, type Given, parseAdminLine, secretOf, usage } from "./options.ts";
import { reencrypt, rehash, resign } from "./keys.ts";
import { printTable } from "./table.ts";

type Command = (admin: AdminClient, argument: string, given: Given) => Promise<unknown>;

const commands: Record<string, { argument: string | undefined; value?: string; run: Command }> = {
  "account add": { argument: "NAME", run: addAccount },
  "account export": { argument: "NAME", value: "FILE", run: printExport },
  "account import": { argument: "NAME", value: "FILE", run: printImport },
  "account list": { argument: undefined, run: listAccounts },
  "account lock": { argument: "NAME", run: lockAccount },
  "account operator": { argument: "NAME", value: "on or off", run: setOperator },
  "account password": { argument: "NAME", run: setPassword },
  "account quota": { argument: "NAME", value: "GB or default", run: accountQuota },
  "account rekey": { argument: "NAME", run: async (admin, name) => print(await admin.rekey(name)) },
  "account remove": { argument: "NAME", run: removeAccount },
  "account unlock": { argument: "NAME", run: unlockAccount },
  ...advisoryCommands,
  "agent add": { argument: "NAME", run: addAgent },
  "agent drain": { argument: "NAME", run: drainAgent },
  "agent list": { argument: undefined, run: listAgents },
  "agent remove": { argument: "NAME", run: removeAgent },
  "agent resume": { argument: "NAME", run: resumeAgent },
  "agreements list": { argument: undefined, run: listAgreements },
  "audit list": { argument: undefined, run: listAudit },
  ...buildCommands,
  "deletions pause": { argument: undefined, run: async (admin) => printPause(await admin.pauseDeletions()) },
  "deletions resume": { argument: undefined, run: async (admin) => printPause(await admin.resumeDeletions()) },
  "deletions status": { argument: undefined, run: async (admin) => printPause(await admin.deletions()) },
  health: { argument: undefined, run: printHealth },
  "keys reencrypt": { argument: undefined, run: reencrypt },
  "keys rehash": { argument: undefined, run: rehash },
  "keys resign": { argument: undefined, run: resign },
  metrics: { argument: undefined, run: async (admin) => process.stdout.write(await admin.metrics()) },
  "read-only off": { argument: undefined, run: async (admin) => printReadOnly(await admin.setReadOnly({ on: false })) },
  "read-only on": { argument: undefined, run: async (admin) => printReadOnly(await admin.setReadOnly({ on: true })) },
  "read-only status": { argument: undefined, run: async (admin) => printReadOnly(await admin.readOnly()) },
  "sessions list": { argument: "NAME", run: listSessions },
  "sessions revoke": { argument: "NAME", value: "ID", run: revokeSessions },
  "templates list": { argument: undefined, run: listTemplates },
  "templates load": { argument: "FILE", run: loadTemplates },
  "tokens list": { argument: "NAME", run: listTokens },
  "tokens revoke": { argument: "ID", run: revokeToken },
};

/** Runs one command line. Every expected error is a Complaint. */
export async function administer(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const { words, options } = parseAdminLine(argv);
  if (options.help || words.length === 0) return print(usage);
  if (await administerFiles(words, options, env)) return;
  const length = words[0] !== undefined && words[0] in commands ? 1 : 2;
  const name = words.slice(0, length).join(" ");
  const command = commands[name];
  if (!command) throw unknownCommand(name, words[0]);
  const [argument, value, ...more] = words.slice(length);
  const tooMany = more.length > 0 || (value !== undefined && command.value === undefined);
  if (!argument !== (command.argument === undefined) || tooMany) throw new Complaint(`${expectedBy(name, command)}.`);
  const { url, secret } = getService(options, env);
  await command.run(adminClient(url, secret), argument ?? "", { ...options, value });
}

function expectedBy(name: string, { argument, value }: { argument: string | undefined; value?: string }): string {
  if (argument === undefined) return `${name} takes no argument`;
  return `${name} takes one ${argument}${value === undefined ? "" : `, and at most one value: ${value}`}`;
}

function unknownCommand(name: string, topic = ""): Complaint {
  const near = Object.entries(commands).filter(([each]) => each.startsWith(`${topic} `));
  const shown = near.map(([each, { argument }]) => `  ${argument === undefined ? each : `${each} ${argument}`}`);
  const help = near.length === 0 ? usage : `There are:\n${shown.join("\n")}`;
  return new Complaint(`There is no command "${name}".\n\n${help}`);
}

async function addAccount(admin: AdminClient, username: string, options: AdminOptions): Promise<void> {
  const { email, "display-name": displayName } = options;
  if (!email) throw new Complaint("account add needs --email ADDRESS.");
  const apiKey = await secretOf(options, "api-key");
  const password = await secretOf(options, "password");
  const made = await admin.addAccount({ username, email, displayName, apiKey, password });
  printTable([
    ["account", made.username],
    ["API key", made.apiKey],
    // The operator already knows a password that they gave.
    ...(made.password && password === undefined ? [["password", `${made.password}   (shown this once)`]] : []),
  ]);
}

async function listAccounts(admin: AdminClient): Promise<void> {
  const accounts = await admin.accounts();
  printTable([
    ["NAME", "EMAIL", "DISPLAY NAME", "SINCE", "LOCKED", "QUOTA"],
    ...accounts.map(({ username, email, displayName, createdAt, lockedAt, ...quota }) => [
      username,
      email,
      displayName ?? "",
      day(createdAt),
      lockedAt ? day(lockedAt) : "",
      quotaText(quota),
    ]),
  ]);
}

async function accountQuota(admin: AdminClient, username: string, { value }: Given): Promise<void> {
  if (value === undefined) return print(quotaText(await admin.quota(username)));
  const gb = value === "default" ? null : Number(value);
  if (gb !== null && !/^\d+(\.\d+)?$/.test(value))
    throw new Complaint("account quota takes a number of GB, such as 50, or default.");
  print(`The disk quota of ${username} is ${quotaText(await admin.setQuota(username, gb))}.`);
}

const quotaText = ({ quotaGb, hasOwnQuota }: Quota): string => `${quotaGb} GB${hasOwnQuota ? " (its own)" : ""}`;

async function lockAccount(admin: AdminClient, username: string): Promise<void> {
  await admin.setLock(username, { locked: true });
  print(`Locked ${username}: its key, password and tokens no longer work, and its builds and testdrives have ended.`);
}

async function unlockAccount(admin: AdminClient, username: string): Promise<void> {
  await admin.setLock(username, { locked: false });
  print(`Unlocked ${username}.`);
}

async function setOperator(admin: AdminClient, username: string, { value }: Given): Promise<void> {
  if (value !== "on" && value !== "off") throw new Complaint("account operator takes a name, and on or off.");
  await admin.setOperator(username, { operator: value === "on" });
  print(`${username} ${value === "on" ? "sees" : "no longer sees"} the operator's pages.`);
}

async function removeAccount(admin: AdminClient, username: string): Promise<void> {
  await admin.removeAccount(username);
  print(`Removed ${username}. The sweep deletes what belongs to it within minutes.`);
}

async function setPassword(admin: AdminClient, username: string, options: AdminOptions): Promise<void> {
  const given = await secretOf(options, "password");
  const password = await admin.setPassword(username, given);
  print(given === undefined ? `${password}   (shown this once)` : `${username} has the new password.`);
}

async function addAgent(admin: AdminClient, name: string): Promise<void> {
  const made = await admin.addAgent(name);
  printTable([
    ["agent", made.name],
    ["token", `${made.token}   (shown this once)`],
  ]);
}

async function listAgents(admin: AdminClient): Promise<void> {
  const agents = await admin.agents();
  printTable([
    ["NAME", "LAST SEEN", "NEW WORK", "BUILDS", "TESTDRIVES", "BUILDER ROOTS"],
    ...agents.map(({ name, lastSeenAt, drainedAt, capabilities }) => [
      name,
      lastSeenAt?.toISOString() ?? "never",
      drainedAt ? `none: draining since ${drainedAt.toISOString()}` : "yes",
      capabilities?.hasRoom === false ? "none: disk full" : (capabilities?.imageTypes.join(", ") ?? ""),
      capabilities?.testdrives ? "yes" : "no",
      capabilities?.roots?.map((root) => root.name).join(", ") ?? "",
    ]),
  ]);
}

async function drainAgent(admin: AdminClient, name: string): Promise<void> {
  await admin.drainAgent(name, { draining: true });
  print(`The agent ${name} finishes its work and gets no more.`);
}

async function resumeAgent(admin: AdminClient, name: string): Promise<void> {
  await admin.drainAgent(name, { draining: false });
  print(`The agent ${name} gets work again.`);
}

async function removeAgent(admin: AdminClient, name: string): Promise<void> {
  await admin.removeAgent(name);
  print(`Removed the agent ${name}; its token no longer works.`);
}

async function listTokens(admin: AdminClient, username: string): Promise<void> {
  const tokens = await admin.tokens(username);
  printTable([
    ["ID", "NAME", "SCOPE", "APPLIANCE", "MADE", "EXPIRES", "LAST USED"],
    ...tokens.map(({ id, name, scope, applianceId, createdAt, expiresAt, lastUsedAt }) => [
      String(id),
      name,
      scope,
      applianceId === null ? "all" : String(applianceId),
      day(createdAt),
      expiresAt === null ? "never" : day(expiresAt),
      lastUsedAt?.toISOString() ?? "never",
    ]),
  ]);
}

async function revokeToken(admin: AdminClient, id: string): Promise<void> {
  await admin.revokeToken(id);
  print(`Revoked the token ${id}; it no longer works.`);
}

async function listSessions(admin: AdminClient, username: string): Promise<void> {
  const sessions = await admin.sessions(username);
  printTable([
    ["ID", "BROWSER", "NETWORK", "SINCE", "LAST USED", "EXPIRES"],
    ...sessions.map(({ id, browser, network, createdAt, lastUsedAt, expiresAt }) => [
      String(id),
      browser,
      network ?? "",
      day(createdAt),
      lastUsedAt.toISOString(),
      day(expiresAt),
    ]),
  ]);
}

async function revokeSessions(admin: AdminClient, username: string, { value }: Given): Promise<void> {
  await admin.revokeSessions(username, value);
  print(value === undefined ? `Signed ${username} out of all browsers.` : `Revoked the session ${value}.`);
}

async function listAudit(admin: AdminClient, _: string, { account, before }: AdminOptions): Promise<void> {
  const entries = await admin.audit({ account, before });
  printTable([
    ["ID", "AT", "ACCOUNT", "EVENT", "TIMES", "BY", "ADDRESS", "ABOUT"],
    ...entries.map(({ id, at, accountId, username, event, count, actor, address, detail }) => [
      String(id),
      at.toISOString(),
      username ?? (accountId === 0 ? "" : `removed (${accountId})`),
      event,
      String(count),
      actor,
      address ?? "",
      Object.entries(detail)
        .map(([name, value]) => `${name}=${value}`)
        .join(" "),
    ]),
  ]);
}

const printReadOnly = ({ on, since }: ReadOnlyMode): void =>
  print(on ? `Read-only mode has been on since ${since?.toISOString() ?? "some time"}.` : "Read-only mode is off.");

const printPause = ({ paused, since }: DeletionPause): void =>
  print(
    paused
      ? `The sweep's deletions have been paused since ${since?.toISOString() ?? "some time"}.`
      : "The sweep's deletions are not paused.",
  );

async function printHealth(admin: AdminClient): Promise<void> {
  const { ok, reasons } = await admin.health();
  print(ok ? "Work flows." : reasons.map(({ message }) => message).join("\n"));
  if (!ok) process.exitCode = 1;
}

async function listTemplates(admin: AdminClient): Promise<void> {
  const catalogues = await admin.catalogues();
  printTable([
    ["CATALOGUE", "REPOSITORY", "STATE", "PACKAGES", "IMPORTED", "PROBLEM"],
    ...catalogues.flatMap((catalogue) =>
      catalogue.repositories.map(({ name, state, packages, progress, importedAt, problem }) => [
        catalogue.name,
        name,
        progress ? `${state} (${progressWords(progress)})` : state,
        packages?.toString() ?? "",
        importedAt?.toISOString() ?? "never",
        problem ?? "",
      ]),
    ),
  ]);
}

async function loadTemplates(admin: AdminClient, path: string): Promise<void> {
  const templates = await loadCatalogueFile(admin, path);
  print(`Loaded ${templates} ${templates === 1 ? "template" : "templates"} from ${path}.`);
}

const day = (moment: Date) => moment.toISOString().slice(0, 10);
