import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { getConfig } from "../src/found-config.ts";
import { temporaryDir } from "./support/agent-place.ts";

async function configAt(file: string, stateDir: string): Promise<string> {
  await writeFile(file, JSON.stringify({ url: "http://127.0.0.1:1", token: "a-token-of-a-test", stateDir }));
  return file;
}

it("reads the file that is given, even if there is an embedded agent", async () => {
  await using dir = await temporaryDir();
  await configAt(join(dir.path, "agent.json"), "/embedded");
  const given = await configAt(join(dir.path, "given.json"), "/given");
  expect(await getConfig({ config: given, state: dir.path })).toMatchObject({ stateDir: "/given" });
  expect(await getConfig({ state: dir.path })).toMatchObject({ stateDir: "/embedded" });
});

it("describes the agent that the first start would make", async () => {
  await using dir = await temporaryDir();
  await mkdir(join(dir.path, "agent"));
  expect(await getConfig({ state: dir.path })).toMatchObject({
    stateDir: join(dir.path, "agent"),
    isolation: "none",
    vnc: null,
  });
});
