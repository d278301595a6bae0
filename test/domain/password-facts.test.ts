import { Buffer } from "node:buffer";
import { expect, it } from "vitest";
import { withoutPasswords } from "#domain/images/password-facts";
import { loopTurns } from "../support/loop-turns.ts";

const env = { API_KEY_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64") };

/** A root user and others, with passwords of 128 bytes. */
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

const facts = (applianceId: number) => withoutPasswords(env, applianceId, { users: users(10), databases: [] });

it("hashes the passwords of many users without stopping the loop", async () => {
  expect(await loopTurns(() => facts(1))).toBeGreaterThanOrEqual(10);
});

it("hashes the passwords of databases without stopping the loop", async () => {
  // A hash takes two milliseconds on a fast machine, and the work pauses every five.
  const ofDatabase = users(100).map(({ name, password }) => ({ username: name, password, databases: [] }));
  const databases = [{ type: "pgsql" as const, users: ofDatabase }];
  expect(await loopTurns(() => withoutPasswords(env, 1, { users: [], databases }))).toBeGreaterThanOrEqual(10);
});

it("makes the hashes of an appliance once", async () => {
  const made = await facts(2);
  // The work pauses before each hash that it computes. Few turns mean that it used the stored hashes.
  expect(await loopTurns(() => facts(2))).toBeLessThan(5);
  expect(await facts(2)).toEqual(made);
  expect((await facts(3)).users[1]?.passwordHash).not.toBe(made.users[1]?.passwordHash);
});
