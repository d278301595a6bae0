import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { openDatabase } from "#storage/db";
import { beginImport, switchRevision } from "#storage/import-states";
import { beginContents, finishContents } from "#storage/imports";
import { findRepository } from "#storage/repositories";
import { visit, type Client } from "./client.ts";
import { send } from "./definitions.ts";
import { stock } from "./repositories.ts";

export interface ShownSchematic {
  id: string;
  appliance_id: number;
  url: string;
  as_of: { from: string; to: string }[];
}

/** Sends a definition for Tiny Linux as a schematic. */
export async function posted(who: Client, definition: object = {}): Promise<ShownSchematic> {
  const answer = await send(who, "POST /schematics", { base_system: "tiny-1.0", name: "Kiosk", ...definition });
  expect(answer.status, await answer.clone().text()).toBe(201);
  return (await answer.json<{ schematic: ShownSchematic }>()).schematic;
}

/** Opens a URL below /image, with the account's key if `who` is given. `from` is the client's address. */
export const open = (
  who: Client | undefined,
  path: string,
  { from = "192.0.2.1", ...headers }: Record<string, string> = {},
) =>
  visit(`/image/${path}`, {
    redirect: "manual",
    cf: { clientIp: `${from}:40000` },
    headers: {
      accept: "application/json",
      ...(who && { authorization: `Basic ${btoa(`${who.username}:${who.apiKey}`)}` }),
      ...headers,
    },
  });

/** The same, but retries if a busy service requests that. */
export async function openPatiently(...request: Parameters<typeof open>): Promise<Response> {
  for (;;) {
    const answer = await open(...request);
    if (answer.status !== 429) return answer;
    await scheduler.wait(Number(answer.headers.get("retry-after")) * 1000);
  }
}

/** The build that a 202 answer is about. */
export async function building(answer: Response): Promise<{ id: number; version: string; queue_position?: number }> {
  expect(answer.status, await answer.clone().text()).toBe(202);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  const { running_build } = await answer.json<{ running_build: { id: number; version: string } }>();
  return running_build;
}

const db = openDatabase(env);

/** Makes the repository look as if it had had its contents since that time. */
export const importedAt = (repositoryId: number, at: string) =>
  env.DB.prepare("UPDATE repositories SET imported_at = ?, import_id = coalesce(import_id, 'first') WHERE id = ?")
    .bind(Date.parse(at), repositoryId)
    .run();

/** Replaces the packages that a repository shows, like an import. */
export async function reimported(repositoryId: number, packages: string[]): Promise<void> {
  const [checkId, importId] = [crypto.randomUUID(), crypto.randomUUID()];
  const before = await rowOf(repositoryId);
  await stock(repositoryId, packages);
  const { revision, parts, packageCount } = await rowOf(repositoryId);
  await env.DB.prepare("UPDATE repositories SET revision = ?, parts = ? WHERE id = ?")
    .bind(before.revision, JSON.stringify(before.parts), repositoryId)
    .run();
  const { url, arches, baseSystem } = before;
  await beginContents(db, importId, { url, revision: revision ?? "" });
  await finishContents(db, importId, { arches, baseSystem, parts, packageCount, bytes: 1, workMs: 1 });
  await beginImport(db, repositoryId, { checkId, startedAt: new Date() });
  const { type, snapshotUrl, packagesFolder, signer, signingKeys, indexTag } = before;
  const same = { type, arches, baseSystem, snapshotUrl, packagesFolder, signer, signingKeys, indexTag };
  expect(await switchRevision(db, repositoryId, checkId, { ...same, revision, parts, packageCount, importId })).toBe(
    true,
  );
}

const rowOf = async (id: number) => (await findRepository(db, id)) ?? expect.fail("there is no such repository");
