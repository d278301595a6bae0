/** Who may log in with an SSH key, and who may use sudo. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { imageFacts } from "#domain/images/facts";
import { forOtherAccount } from "#domain/configuration/secrets";
import { descriptionFiles } from "#lib/kiwi/description-files";
import { configurationOf } from "#lib/configuration/stored";
import { signedIn, visit } from "../support/client.ts";
import { db, documentOf, putPortion, rowOf } from "../support/configurations.ts";
import { createAppliance } from "../support/factories.ts";
import { sshKeys } from "../support/ssh-keys.ts";

const tux = await signedIn();
const keysOf = (...keys: string[]) => `<ssh_keys>${keys.map((key) => `<ssh_key>${key}</ssh_key>`).join("")}</ssh_keys>`;
const people = (clerk: string) =>
  `<users><user><name>root</name></user><user><name>clerk</name>${clerk}</user></users>`;
const asJson = async (id: number): Promise<Record<string, unknown>[]> => {
  const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;
  const headers = { authorization, accept: "application/json" };
  const answer = await visit(`/api/v2/user/appliances/${id}/configuration`, { headers });
  return (await answer.json<{ configuration: { users: Record<string, unknown>[] } }>()).configuration.users;
};

const describedImage = async (id: number): Promise<Record<string, string>> => {
  const asked = { version: "0.0.1", imageType: "oem", name: "Kiosk", bootstrap: null, packages: [] } as const;
  return descriptionFiles((await imageFacts({ env, db }, await rowOf(id), { ...asked, packages: [] })).facts);
};

describe("an SSH key of a user", () => {
  it("is in JSON, and leaves the XML of the original as it is", async () => {
    const id = await createAppliance(tux);
    const before = await documentOf(tux, id);
    expect(before).not.toContain("ssh_key");
    const answer = await putPortion(
      tux,
      id,
      people(`${keysOf(sshKeys.ed25519, sshKeys.ecdsa)}<administrator>true</administrator>`),
    );
    expect(answer.status, await answer.text()).toBe(200);
    const [root, clerk] = await asJson(id);
    expect(root).not.toHaveProperty("ssh_keys");
    expect(root).not.toHaveProperty("administrator");
    expect(clerk).toMatchObject({ ssh_keys: [sshKeys.ed25519, sshKeys.ecdsa], administrator: true, password: "" });

    const document = await documentOf(tux, id);
    expect(document).not.toMatch(/ssh_key|administrator/);
    expect((await tux.put(`/appliances/${id}/configuration`, document)).status).toBe(200);
    expect((await asJson(id))[1]).toEqual(clerk);
    await putPortion(tux, id, people("<password>p</password><ssh_keys/>"));
    expect((await asJson(id))[1]).not.toHaveProperty("ssh_keys");
  });

  it("takes the place of a password", async () => {
    const id = await createAppliance(tux);
    const without = await putPortion(tux, id, people(""));
    expect([without.status, await without.text()]).toEqual([400, expect.stringContaining("users/user/password: ")]);
    expect((await putPortion(tux, id, people(keysOf(sshKeys.ed25519)))).status).toBe(200);
    await putPortion(tux, id, people("<administrator>1</administrator>"));
    const files = await describedImage(id);
    expect(files["config.xml"]).toContain('<user name="clerk" password="*"');
    expect(files["root/image/kiln/ssh-keys/clerk"]).toBe(`${sshKeys.ed25519}\n`);
    expect(files["root/image/kiln/sudoers"]).toBe("Defaults:clerk !targetpw\nclerk ALL=(ALL:ALL) NOPASSWD: ALL\n");
    expect(files["config.sh"]).toContain("'install_ssh_keys' 'clerk' 'users' '/home/clerk'");
  });

  it.each([
    [keysOf("nonsense"), "users/user/ssh_keys: must begin with the type"],
    [keysOf(sshKeys.rsa1024), "users/user/ssh_keys: an RSA key of 1024 bits is too weak"],
    [keysOf(...Array.from({ length: 51 }, () => sshKeys.ed25519)), "users/user/ssh_keys: must not be more than 50"],
  ])("is refused if it cannot be one (%#)", async (keys, why) => {
    const id = await createAppliance(tux);
    const answer = await putPortion(tux, id, people(`<password>p</password>${keys}`));
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(why)]);
  });

  it("does not go to the clone of another account", async () => {
    const id = await createAppliance(tux);
    await putPortion(tux, id, people(keysOf(sshKeys.ed25519)));
    const stored = configurationOf(await rowOf(id));
    const theirs = await forOtherAccount(env, stored, undefined);
    expect(theirs.users.map((user) => user.sshKeys)).toEqual([[], []]);
    expect(theirs.users[1]?.password).toMatch(/^sealed:/);
  });
});

it("needs no rule of sudo for root", async () => {
  const id = await createAppliance(tux);
  const answer = await putPortion(
    tux,
    id,
    "<users><user><name>root</name><administrator>true</administrator></user></users>",
  );
  expect([answer.status, await answer.text()]).toEqual([
    400,
    expect.stringContaining("users/user/administrator: must not be set for root"),
  ]);
});
