import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { AdminClient } from "../admin/client.ts";
import { pack } from "../backup/archive.ts";
import { Complaint } from "../launch/complaint.ts";
import { type AccountClient, clientOf } from "./account-client.ts";
import {
  type Account,
  accountFile,
  contentsFolder,
  Definition,
  Ids,
  Packages,
  packagesFolder,
  Repositories,
  Secrets,
  Statements,
} from "./archived.ts";

const Files = z.object({
  files: z.array(z.looseObject({ id: z.number(), path: z.string(), filename: z.string() })),
});
const Sets = z.object({
  template_sets: z.array(z.looseObject({ template: z.array(z.looseObject({ basesystem: z.string() })) })),
});

/**
 * Writes the data of an account into a file: appliances with their files, its own packages, and the URLs of its
 * repositories.
 */
export async function exportAccount(admin: AdminClient, username: string, file: string): Promise<Account> {
  if (existsSync(file)) throw new Complaint(`${file} already exists. Name a new file.`);
  const found = (await admin.accounts()).find((each) => each.username === username);
  if (!found) throw new Complaint(`There is no account ${username}.`);
  const client = await clientOf(admin, username);
  const staging = `${file}.${process.pid}.folder`;
  try {
    for (const folder of [contentsFolder, packagesFolder])
      mkdirSync(join(staging, folder), { recursive: true, mode: 0o700 });
    const account: Account = {
      format: 1,
      username,
      email: found.email,
      displayName: found.displayName,
      quotaGb: found.hasOwnQuota ? found.quotaGb : null,
      repositories: await ownRepositories(admin, client),
      packages: await ownPackages(client, staging),
      appliances: await appliancesOf(client, staging),
    };
    writeFileSync(join(staging, accountFile), JSON.stringify(account, null, 2));
    await pack(staging, file, [accountFile, contentsFolder, packagesFolder]);
    return account;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/**
 * The repositories that the account imported. Those of catalogues belong to everyone, and user repositories have no
 * URL.
 */
async function ownRepositories(admin: AdminClient, client: AccountClient) {
  const shared = (await admin.catalogues()).flatMap(({ repositories }) => repositories.map(({ url }) => url));
  const isShared = (url: string) =>
    shared.some((one) => (one.startsWith("service:") ? url.endsWith(one.slice("service:".length)) : url === one));
  const { repositories } = await client.get("/repositories", Repositories);
  return repositories.filter(({ base_url: url }) => url !== undefined && !isShared(url));
}

async function ownPackages(client: AccountClient, staging: string) {
  const { template_sets: sets } = await client.get("/template_sets", Sets);
  const bases = new Set(sets.flatMap(({ template: templates }) => templates.map(({ basesystem }) => basesystem)));
  const all: Account["packages"] = [];
  for (const baseSystem of bases) {
    const { rpms } = await client.get(`/rpms?${new URLSearchParams({ base_system: baseSystem })}`, Packages);
    for (const one of rpms) {
      await client.download(`/rpms/${one.id}/data`, join(staging, packagesFolder, String(one.id)));
      all.push({ ...one, baseSystem });
    }
  }
  return all;
}

async function appliancesOf(client: AccountClient, staging: string): Promise<Account["appliances"]> {
  const { appliances } = await client.get("/appliances", Ids);
  const all: Account["appliances"] = [];
  for (const { id } of appliances) {
    const { definition } = await client.get(`/appliances/${id}/definition`, z.object({ definition: Definition }));
    const shown = await client.get(`/appliances/${id}/configuration`, z.object({ configuration: Secrets }));
    const { files } = await client.get(`/files?appliance_id=${id}`, Files);
    for (const { path, sha256 } of definition.files) {
      const content = join(staging, contentsFolder, sha256);
      const file = files.find((each) => `${each.path.replace(/\/$/, "")}/${each.filename}` === path);
      if (file && !existsSync(content)) await client.download(`/files/${file.id}/data`, content);
    }
    const { vex_statements: stated } = await client.get(`/appliances/${id}/vex`, Statements);
    const statements = stated.filter(({ build_id: buildId }) => buildId === undefined);
    all.push({ definition, secrets: shown.configuration, statements });
  }
  return all;
}
