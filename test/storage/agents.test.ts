import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { addAgent, countBuilders, listAbilities, saveCapabilities } from "#storage/agents";
import { openDatabase } from "#storage/db";
import { capabilities } from "../support/fake-agent.ts";

const db = openDatabase(env);

async function agent(name: string, can: typeof capabilities | undefined): Promise<void> {
  const added = await addAgent(db, { name, tokenHmac: name });
  if (can) await saveCapabilities(db, added?.id ?? expect.fail("the name is taken"), can);
}

it("lists what agents can do once, however many can do it", async () => {
  expect(await listAbilities(db)).toEqual([]);
  const media = { ...capabilities, imageTypes: ["iso" as const] };
  await agent("first", capabilities);
  await agent("second", media);
  await agent("third", capabilities);
  await agent("silent", undefined);

  const abilities = await listAbilities(db);
  expect(abilities).toHaveLength(2);
  expect(abilities).toEqual(expect.arrayContaining([capabilities, media]));
});

it("counts agents that make images and are alive, up to a number", async () => {
  await agent("a fourth", { ...capabilities, imageTypes: [] });
  const before = new Date(Date.now() - 60_000);
  expect(await countBuilders(db, before, 10)).toBe(3);
  expect(await countBuilders(db, before, 2)).toBe(2);
  expect(await countBuilders(db, new Date(Date.now() + 60_000), 10)).toBe(0);
});
