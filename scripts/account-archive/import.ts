import { existsSync, mkdirSync, openAsBlob, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { AdminClient } from "../admin/client.ts";
import { unpack } from "../backup/archive.ts";
import { Complaint } from "../launch/complaint.ts";
import { type AccountClient, clientOf } from "./account-client.ts";
import {
  Account,
  accountFile,
  contentsFolder,
  Definition,
  Ids,
  Packages,
  packagesFolder,
  Repositories,
  type Secrets,
  type Statement,
  Statements,
} from "./archived.ts";

const Stored = z.object({ content: z.object({ upload: z.string() }) });
const Answer = z.object({ definition: Definition });

export type Imported = {
  /** The password of a new account, shown once. */
  password: string | undefined;
  appliances: number;
  /**
   * The disk quota of the exported account, which this service's operator may give to a new one. Null for the default.
   */
  quotaGb: number | null;
  /** The number of appliances that already existed. */
  skipped: number;
  /** The refused parts, with the reasons. */
  problems: string[];
};

type Import = { client: AccountClient; account: Account; folder: string; problems: string[] };

/** Imports an archive into an account with that name. Existing data is kept, so the import can be repeated. */
export async function importAccount(admin: AdminClient, username: string, file: string): Promise<Imported> {
  if (!existsSync(file)) throw new Complaint(`There is no file ${file}.`);
  const folder = `${file}.${process.pid}.folder`;
  try {
    mkdirSync(folder, { mode: 0o700 });
    await unpack(file, folder, [accountFile, contentsFolder, packagesFolder]);
    refuseLinks(folder, file);
    const account = readAccount(join(folder, accountFile), file);
    const password = await haveAccount(admin, username, account);
    const given: Import = { client: await clientOf(admin, username), account, folder, problems: [] };
    await importPackages(given);
    await importRepositories(given);
    const { appliances, skipped } = await importAppliances(given);
    return { password, quotaGb: account.quotaGb, appliances, skipped, problems: given.problems };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** An archive may come from another operator, and must not name files of this machine. */
function refuseLinks(folder: string, file: string): void {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  const other = entries.find((entry) => !entry.isFile() && !entry.isDirectory());
  if (other) throw new Complaint(`${file} is not an account's archive: ${other.name} is neither a file nor a folder.`);
}

function readAccount(path: string, file: string): Account {
  const read = Account.safeParse(JSON.parse(readFileSync(path, "utf8")));
  if (!read.success) throw new Complaint(`${file} is not an account's archive that this version of Kiln can read.`);
  return read.data;
}

/** Creates the account if it does not exist. Returns its password. */
async function haveAccount(admin: AdminClient, username: string, account: Account): Promise<string | undefined> {
  if ((await admin.accounts()).some((each) => each.username === username)) return undefined;
  const { email, displayName } = account;
  const { password } = await admin.addAccount({ username, email, ...(displayName && { displayName }) });
  return password ?? undefined;
}

/** Performs one step. If the service refuses it, records the problem and lets the import continue. */
async function tried(problems: string[], what: string, act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (!(error instanceof Complaint)) throw error;
    problems.push(`${what}: ${error.message}`);
    return false;
  }
}

async function importPackages({ client, account, folder, problems }: Import): Promise<void> {
  for (const { id, filename, baseSystem } of account.packages) {
    const path = `/rpms?${new URLSearchParams({ base_system: baseSystem })}`;
    await tried(problems, `package ${filename}`, async () => {
      const { rpms } = await client.get(path, Packages);
      if (rpms.some((each) => each.filename === filename)) return;
      const form = new FormData();
      form.set("file", await openAsBlob(join(folder, packagesFolder, String(id))), filename);
      await client.postForm(path, z.unknown(), form);
    });
  }
}

async function importRepositories({ client, account, problems }: Import): Promise<void> {
  const { repositories: known } = await client.get("/repositories", Repositories);
  const missing = account.repositories.filter(({ base_url: url }) => !known.some((each) => each.base_url === url));
  for (const { name, type, base_url: url = "", signed_by: signer, accepts_expired: acceptsExpired } of missing) {
    if (type === "deb" && signer !== undefined) {
      // Without its key, its signature would no longer be checked.
      problems.push(
        `repository ${name}: import ${url} with its key ${signer} as the account, then repeat this command`,
      );
      continue;
    }
    const form = new URLSearchParams({ url, name, ...(acceptsExpired && { accept_expired: "true" }) });
    await tried(problems, `repository ${name}`, () => client.postForm("/repositories", z.unknown(), form));
  }
}

async function importAppliances({ client, account, folder, problems }: Import) {
  const there = await definitionsOf(client);
  let [appliances, skipped] = [0, 0];
  for (const { definition, secrets, statements } of account.appliances) {
    const known = there.find((each) => isDeepStrictEqual(withoutId(each), withoutId(definition)));
    if (known) {
      skipped++;
      await importStatements({ client, problems }, known, statements);
      continue;
    }
    const isMade = await tried(problems, `appliance ${definition.name}`, async () => {
      const files = await storedFiles(client, folder, definition);
      const wanted = {
        ...withoutId(definition),
        files,
        configuration: withPasswords(definition.configuration, secrets),
      };
      const made = await client.post("/definitions", Answer, { definition: wanted });
      await importStatements({ client, problems }, made.definition, statements);
    });
    if (isMade) appliances++;
  }
  return { appliances, skipped };
}

/** Repeats the owner's statements about advisories, except those that the appliance has already. */
async function importStatements(
  { client, problems }: Pick<Import, "client" | "problems">,
  { id, name }: Definition,
  statements: readonly Statement[],
): Promise<void> {
  if (statements.length === 0) return;
  const { vex_statements: known } = await client.get(`/appliances/${id}/vex`, Statements);
  const isKnown = (advisory: string) => known.some((one) => one.advisory === advisory && one.build_id === undefined);
  for (const { advisory, status, justification, text } of statements.filter((one) => !isKnown(one.advisory))) {
    const stated = { status, text, ...(justification !== undefined && { justification }) };
    const path = `/appliances/${id}/vex/${encodeURIComponent(advisory)}`;
    await tried(problems, `statement about ${advisory} of ${name}`, () =>
      client.putForm(path, new URLSearchParams(stated)),
    );
  }
}

async function definitionsOf(client: AccountClient): Promise<Definition[]> {
  const { appliances } = await client.get("/appliances", Ids);
  const all: Definition[] = [];
  for (const { id } of appliances) all.push((await client.get(`/appliances/${id}/definition`, Answer)).definition);
  return all;
}

const withoutId = ({ id: _id, ...rest }: Definition) => rest;

/** Uploads the files of an appliance. Returns the files with the ids of their uploads. */
async function storedFiles(client: AccountClient, folder: string, { files }: Definition) {
  const sent: unknown[] = [];
  for (const { size: _size, ...file } of files) {
    const { content } = await client.postFile("/contents", Stored, join(folder, contentsFolder, file.sha256));
    sent.push({ ...file, upload: content.upload });
  }
  return sent;
}

/** Adds the passwords, which a definition does not have, to the account's own configuration. */
const withPasswords = (configuration: object, { users, databases }: Secrets) => ({
  ...configuration,
  users,
  databases,
});
