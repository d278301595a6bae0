/** A testdrive's user data is checked against the schema of the image's own cloud-init. */
import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { checkCloudConfig } from "#domain/testdrives/cloud-config";
import type { Build } from "#storage/builds";
import { signedIn } from "../support/client.ts";
import { fileStoreOf } from "../support/file-store.ts";
import { bootableBuild, startDrive } from "../support/testdrives.ts";
import { expectError } from "../support/xml.ts";

const schema = {
  $defs: {
    user: {
      type: "object",
      properties: { name: { type: "string" }, sudo: { oneOf: [{ type: ["string", "array"] }, { type: "boolean" }] } },
      additionalProperties: false,
    },
    users: {
      properties: {
        users: { type: "array", items: { oneOf: [{ type: "string" }, { type: "object", $ref: "#/$defs/user" }] } },
      },
    },
    others: {
      properties: {
        packages: { type: "array" },
        disks: { type: "object", patternProperties: { "^(a+)+$": { type: "object" } }, additionalProperties: false },
        power: { type: "object", properties: { mode: { enum: ["reboot", "halt"] } }, required: ["mode"] },
      },
    },
  },
  allOf: [{ $ref: "#/$defs/users" }, { $ref: "#/$defs/others" }],
};
const path = "/usr/lib/python3/dist-packages/cloudinit/config/schemas/schema-cloud-config-v1.json";

/** The columns of a build that refer to the files of its image. */
async function imageWith(text: string): Promise<Partial<Build>> {
  const { files, index } = fileStoreOf({ [path]: text });
  const [filesKey, filesIndexKey] = [crypto.randomUUID(), crypto.randomUUID()];
  await Promise.all([env.BLOBS.put(filesKey, files), env.BLOBS.put(filesIndexKey, index)]);
  return { filesKey, filesSize: files.byteLength, filesIndexKey, filesIndexSize: index.byteLength };
}

async function refusalOf(lines: string, image = imageWith(JSON.stringify(schema))): Promise<string> {
  const tux = await signedIn();
  const build = await bootableBuild(tux, await image);
  const answer = await tux.post("/testdrives", { build_id: build.id, user_data: `#cloud-config\n${lines}` });
  const text = await expectError(answer, 400, "invalid_value");
  expect(await (await tux.get("/testdrives")).text()).not.toContain("<testdrive>");
  return text;
}

describe("user data that cloud-init would not understand", () => {
  it.each([
    ["packages: 3", "line 2: packages must be a list"],
    [
      "power:\n  mode: reboot\nusers:\n  - root\n  - name: a\n    k9secret: 1",
      "line 7: users/1 has a key that cloud-init does not accept there",
    ],
    ["users:\n  - sudo: 3", "line 3: users/0/sudo must be text or a list"],
    ["power:\n  mode: k9secret", "line 3: power/mode has a value that cloud-init does not accept"],
    ["power: {}", "line 2: power lacks mode"],
    ["- a", "must be a map of YAML: lines like name: value"],
  ])("is refused before the start, with its line and none of its text: %j", async (lines, why) => {
    const log = vi.spyOn(console, "log");
    onTestFinished(() => log.mockRestore());
    expect(await refusalOf(lines)).toBe(`user_data: ${why}.`);
    expect(JSON.stringify(log.mock.calls)).not.toContain("k9secret");
  });

  it("is refused if it stands for more than fits into memory", async () => {
    const more = Array.from({ length: 9 }, (_, nth) => `a${nth + 1}: &a${nth + 1} [${`*a${nth},`.repeat(9)}]`);
    expect(await refusalOf(`a0: &a0 [x]\n${more.join("\n")}`)).toBe("user_data: has too many aliases (*name).");
  });
});

describe("a testdrive starts", () => {
  const rightData = `users: [root, { name: a, sudo: false }]\npackages: [vim]\ndisks: { ${"a".repeat(40)}!: 1 }\nunknown: 1`;

  it.each([
    ["right data", rightData, JSON.stringify(schema)],
    [
      "an image whose schema leads to itself",
      "users: []",
      '{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}',
    ],
    ["an image whose schema is none", "users: 3", "[1, "],
    ["an image whose schema is a text", "users: 3", '"text"'],
  ])("with %s", async (_of, lines, text) => {
    const build = await bootableBuild(await signedIn(), await imageWith(text));
    await expect(checkCloudConfig(env, build, { userData: `#cloud-config\n${lines}` })).resolves.toBeUndefined();
  });

  it("with an image that has no schema", async () => {
    const { claim } = await startDrive(await signedIn(), undefined, { user_data: "#cloud-config\npackages: 3" });
    expect(claim.seed).toEqual({ userData: "#cloud-config\npackages: 3" });
  });
});
