import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { newMachine, run, type Machine } from "./support/machine.ts";
import { busy, busyOnce, newKey, signedInto, standIn, type StandIn } from "./support/service.ts";

const key = newKey();
let machine: Machine;
let service: StandIn;

beforeEach(async () => {
  machine = newMachine();
  service = await standIn({ ...signedInto(key), "/api/v2/user/appliances": { appliances: [] } });
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  machine[Symbol.dispose]();
});

it("stores the secret in a file that only its owner can read", async () => {
  const ended = await machine.kiln(["login", service.url, "--account", "tux"], { input: "secret word\n" });
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining(key.kid) });
  expect(ended.stdout + ended.stderr).not.toContain("secret word");

  const folder = join(machine.folder, "config/kiln");
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const file of readdirSync(folder)) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  const [stored = ""] = readdirSync(folder).filter((file) => file.endsWith(".json"));
  expect(JSON.parse(readFileSync(join(folder, stored), "utf8"))).toMatchObject({
    account: "tux",
    secret: "secret word",
  });
  expect(await machine.kiln(["list"])).toMatchObject({ code: 0, stdout: "None.\n" });
});

it("does not take a service that restarts for another kind of server", async () => {
  const keys = "/.well-known/kiln-attestation-keys.json";
  busyOnce(service.answers, [keys]);
  const login = async () => await machine.kiln(["login", service.url, "--account", "tux"], { input: "key\n" });
  expect(await login()).toMatchObject({ code: 0 });
  service.answers[keys] = busy(3600, 503);
  const ended = await login();
  expect(ended).toMatchObject({
    code: 8,
    stderr: expect.stringContaining("cannot answer at this moment (status 503)"),
  });
});

it("prints who is signed in, and forgets the key", async () => {
  await machine.kiln(["login", service.url, "--account", "tux"], { input: "secret word\n" });
  expect(await machine.kiln(["whoami"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Account +tux\n/) });
  expect(await machine.kiln(["logout"])).toEqual({ code: 0, stdout: `Signed out of ${service.url}.\n`, stderr: "" });
  expect(readdirSync(join(machine.folder, "config/kiln"))).toEqual([]);
  expect(await machine.kiln(["whoami"])).toMatchObject({ code: 7 });
  expect(await machine.kiln(["logout", service.url])).toMatchObject({ code: 9 });
});

it("reads the answers to all its questions from a pipe that stays open", async () => {
  const script = `mkfifo answers; exec 3<>answers; printf 'tux\\nsecret word\\n' >&3; kiln login ${service.url} <answers`;
  const given = { env: machine.env, input: "", cwd: machine.folder };
  expect(await run("bash", ["-c", script], given)).toMatchObject({ code: 0 });
  expect(await machine.kiln(["whoami"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Account +tux\n/) });
});

it("signs in to the service of --url, whatever KILN_URL is", async () => {
  const env = { KILN_URL: "http://127.0.0.1:1" };
  const ended = await machine.kiln(["login", "--url", service.url, "--account", "tux"], { input: "key\n", env });
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining(service.url) });
});

it("does not repeat a key that it reads instead of an address", async () => {
  const ended = await machine.kiln(["login", "--account", "tux"], { input: "secret-word\n" });
  expect(ended).toMatchObject({ code: 64, stderr: expect.stringContaining("kiln login ADDRESS") });
  expect(ended.stderr).not.toContain("secret-word");
});

it("explains itself if its input ends before the answer", async () => {
  const ended = await machine.kiln(["login", service.url, "--account", "tux"], { input: "" });
  expect(ended).toMatchObject({
    code: 64,
    stderr: expect.stringMatching(/^kiln: There is no answer to "[^"]+"\nRun it/),
  });
});

it("asks on a terminal without showing the key", async () => {
  const line = `kiln login ${service.url} --account tux`;
  const given = { env: machine.env, input: "secret word\n", cwd: machine.folder };
  const ended = await run("script", ["-qec", line, "/dev/null"], given);
  expect(ended.code).toBe(0);
  const afterQuestion = ended.stdout.slice(ended.stdout.indexOf("API key or token of tux: "));
  expect(afterQuestion).toContain("Signed in");
  expect(afterQuestion).not.toContain("secret");
});

it("stores nothing if the service refuses the key", async () => {
  const error = { error: { code: "access_denied", message: "Sign in." } };
  service.answers["/api/v2/user/account"] = (_request, response) => response.writeHead(401).end(JSON.stringify(error));
  const ended = await machine.kiln(["login", service.url, "--account", "tux"], { input: "wrong\n" });
  expect(ended).toMatchObject({ code: 7, stdout: "" });
  expect(await machine.kiln(["list"])).toMatchObject({
    code: 7,
    stderr: expect.stringContaining("You are not signed in."),
  });
});

it("takes address, account and token of the environment, and stores nothing of them", async () => {
  const env = { KILN_URL: service.url, KILN_ACCOUNT: "tux", KILN_TOKEN: "kiln_token" };
  expect(await machine.kiln(["list", "--json"], { env })).toMatchObject({
    code: 0,
    stdout: '{\n  "appliances": []\n}\n',
  });
  expect(readdirSync(machine.folder)).not.toContain("config");
});

it("sends no key over http to another machine", async () => {
  const ended = await machine.kiln(["login", "http://kiln.example.org", "--account", "tux"], { input: "key\n" });
  expect(ended).toMatchObject({ code: 64, stderr: expect.stringContaining("is not encrypted") });
});

it("sends KILN_TOKEN over http to another machine only with KILN_INSECURE", async () => {
  // Kiln does not consider this address local, although it leads to this machine.
  const env = { KILN_URL: service.url.replace("127.0.0.1", "0.0.0.0"), KILN_ACCOUNT: "tux", KILN_TOKEN: "token" };
  const refused = await machine.kiln(["list"], { env });
  expect(refused).toMatchObject({ code: 64, stderr: expect.stringContaining("is not encrypted") });
  expect(service.requests).toEqual([]);
  const insecure = { ...env, KILN_INSECURE: "1" };
  expect(await machine.kiln(["list"], { env: insecure })).toMatchObject({ code: 0, stdout: "None.\n" });
});

it("prints what to do with a damaged file", async () => {
  await machine.kiln(["login", service.url, "--account", "tux"], { input: "key\n" });
  const folder = join(machine.folder, "config/kiln");
  const [stored = ""] = readdirSync(folder).filter((file) => file.endsWith(".json"));
  writeFileSync(join(folder, stored), "{");
  expect(await machine.kiln(["list"])).toMatchObject({ code: 1, stderr: expect.stringContaining("is damaged") });
});
