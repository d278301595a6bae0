import { Buffer } from "node:buffer";
import { expect, it } from "vitest";
import { withoutPasswords } from "#domain/images/password-facts";
import { longestStop } from "../support/longest-stop.ts";

const env = { API_KEY_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64") };

/** A root and others, with passwords of 128 bytes. */
const users = (count: number, tail = "") =>
  Array.from({ length: count }, (_, nth) => ({
    uid: nth === 0 ? 0 : 1000 + nth,
    name: nth === 0 ? "root" : `user${nth}`,
    password: `${nth}${tail}`.padEnd(128, "x"),
    group: "users",
    shell: "/bin/bash",
    homedir: "/home/user",
    sshKeys: [],
    administrator: false,
  }));

it("hashes the passwords of many users without stopping the loop", async () => {
  const { longest, whole } = await longestStop(() => withoutPasswords(env, 1, { users: users(60), databases: [] }));
  expect(longest).toBeLessThan(whole / 4);
});

it("hashes the passwords of databases without stopping the loop", async () => {
  const ofDatabase = users(50).map(({ name, password }) => ({ username: name, password, databases: [] }));
  const databases = [{ type: "pgsql" as const, users: ofDatabase }];
  const { longest, whole } = await longestStop(() => withoutPasswords(env, 1, { users: users(20, "d"), databases }));
  expect(longest).toBeLessThan(whole / 4);
});

it("makes the hashes of an appliance once", async () => {
  const facts = () => withoutPasswords(env, 2, { users: users(20), databases: [] });
  const first = await longestStop(facts);
  const again = await longestStop(facts);
  expect(again.whole).toBeLessThan(first.whole / 3);
  expect(await facts()).toEqual(await facts());
  const other = await withoutPasswords(env, 3, { users: users(20), databases: [] });
  expect(other.users[1]?.passwordHash).not.toBe((await facts()).users[1]?.passwordHash);
});
