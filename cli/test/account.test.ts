/** `kiln account mail` shows and changes the setting. */
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Machine } from "./support/machine.ts";
import { answering, type StandIn } from "./support/service.ts";
import { signedInMachine } from "./support/signed-in.ts";

let machine: Machine;
let service: StandIn;
/** The bodies of the requests that change the setting. */
let sent: string[];
beforeEach(async () => {
  sent = [];
  ({ machine, service } = await signedInMachine());
  service.answers["PUT /api/v2/user/account/mail"] = answering({ success: true }, (body) => sent.push(body));
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  machine[Symbol.dispose]();
});

it.each([
  ["on", "advisories=true", "Advisories are mailed to you.\n"],
  ["off", "advisories=false", "Advisories are not mailed to you.\n"],
])("turns it %s", async (word, body, stdout) => {
  expect(await machine.kiln(["account", "mail", word])).toMatchObject({ code: 0, stdout });
  expect(sent).toEqual([body]);
});

it.each([
  [true, "Advisories are mailed to you.\n"],
  [false, "Advisories are not mailed to you.\n"],
])("shows %s without changing it", async (mails_advisories, stdout) => {
  service.answers["/api/v2/user/account"] = { account: { username: "tux", mails_advisories } };
  expect(await machine.kiln(["account", "mail"])).toMatchObject({ code: 0, stdout });
  expect(sent).toEqual([]);
});
