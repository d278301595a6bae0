import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { readApplianceFile, type ApplianceFile } from "../../cli/src/appliance-file/read.ts";
import { writeApplianceFile, type Definition, type Written } from "../../cli/src/appliance-file/write.ts";
import { openDatabase } from "#storage/db";
import { addRepository } from "#storage/repositories";
import { newKey } from "./gpg-keys.ts";

/** Two mirrors with the same name, which this account can use. */
export async function addTwins(accountId: number): Promise<Definition["repositories"]> {
  const urls = ["one", "two"].map((name) => `http://mirror.example.org/twins/${name}`);
  for (const url of urls) {
    const row = { accountId, name: "Twins", url, baseSystem: "tiny-1.0", arches: [] };
    expect(await addRepository(openDatabase(env), { ...row, type: "rpm-md" })).toBeDefined();
  }
  return urls.map((url) => ({ name: "Twins", url }));
}

export const newKeys = async (): Promise<Definition["gpg_keys"]> =>
  await Promise.all(
    ["ours", "others"].map(async (name) => ({
      name,
      target: "rpm" as const,
      key: (await newKey()).toPublic().armor().replaceAll("\r\n", "\n"),
    })),
  );

/** The file that an export of this definition writes. */
export const fileOf = (
  { version: _version, ...lasting }: Definition,
  contents: ReadonlyMap<string, Uint8Array>,
): Written =>
  writeApplianceFile(lasting, {
    schema: "https://kiln.test/schema/appliance.json",
    folder: "one.files",
    contentOf: (sha256) => contents.get(sha256) ?? expect.fail(`no content ${sha256}`),
  });

const secret = <T extends object>(user: T) => ({ ...user, password: "quiet please" });

/** Reads a file back and adds a password for each user, because no file contains passwords. */
export function readBack({ text, files }: Written): ApplianceFile {
  const { definition, ...read } = readApplianceFile(text, {
    name: "one.yaml",
    read: (path) => files.get(path),
    env: {},
  });
  const { users = [], databases = [], ...rest } = definition.configuration ?? {};
  const configuration = {
    ...rest,
    users: users.map(secret),
    databases: databases.map(({ type, users: of }) => ({ type, users: of.map(secret) })),
  };
  return { ...read, definition: { ...definition, configuration } };
}
