/** Builds a real image twice: the bytes are the same, and a file that a script writes differently is named. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { newMachine, type Machine } from "../../cli/test/support/machine.ts";
import { addAccount, sharedService } from "./support/shared-service.ts";

let machine: Machine;

beforeAll(async () => {
  const account = await addAccount(await sharedService("with-agent"), "rebuilder");
  machine = newMachine();
  const login = ["login", account.url, "--account", account.username];
  expect(await machine.kiln(login, { input: `${account.api_key}\n` })).toMatchObject({ code: 0 });
  expect(await machine.kiln(["clone", "1", "First"])).toMatchObject({ code: 0 });
});
afterAll(() => machine[Symbol.dispose]());

it("makes the same bytes from nothing, and signs that it did", async () => {
  await machine.kiln(["build", "First", "--follow"]);

  const again = await machine.kiln(["rebuild", "First"]);

  expect(again, again.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("The bytes are the same.") });
  const loaded = await machine.kiln(["download", "First"]);
  expect(loaded.stdout).toMatch(/^Rebuilt +once with the same bytes, never by another builder$/m);
  const strict = await machine.kiln(["verify", "First.x86_64-0.0.1.oem.tar.gz", "--rebuilt"]);
  expect(strict).toMatchObject({ code: 6, stderr: expect.stringContaining("another builder") });
});

it("names the file into which a script writes the time", async () => {
  const script = "scripts.build.script=date +%s%N > /etc/built-at";
  const set = await machine.kiln(["config", "set", "First", script, "scripts.build.enabled=true"]);
  expect(set, set.stderr).toMatchObject({ code: 0 });
  await machine.kiln(["build", "First", "--follow"]);

  const again = await machine.kiln(["rebuild", "First"]);

  expect(again, again.stderr).toMatchObject({ code: 2 });
  const [heading, columns, ...rows] = again.stdout.trimEnd().split("\n");
  expect(heading).toContain("The bytes differ.");
  expect(columns).toMatch(/^FILE +CHANGE +WHAT$/);
  expect(rows).toEqual([expect.stringMatching(/^\/etc\/built-at +changed +content$/)]);
});
