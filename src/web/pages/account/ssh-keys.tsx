import { z } from "zod";
import { changeSshKeys } from "#domain/accounts/ssh-keys";
import { auditedPage } from "../../audited.ts";
import { factory } from "../../factory.ts";
import { linesIn } from "../../lines-in.ts";
import { submit } from "../../submit.ts";
import { showAccount } from "./account.tsx";
import { accountPath, sshKeysPath } from "./view.tsx";

const Keys = z.object({ ssh_keys: z.string().default("") });

/** Stores the SSH keys of an account. `accountPages` requires the session. */
export const sshKeyForms = factory.createApp().post(sshKeysPath, (c) =>
  submit(c, {
    fields: Keys,
    faultsOf: ({ faults = [] }) => Object.fromEntries(faults.map(({ path, why }) => [path, `SSH keys: ${why}.`])),
    again: (c) => showAccount(c),
    act: async ({ ssh_keys: text }) => {
      await changeSshKeys(auditedPage(c, { event: "ssh_keys.changed" }), c.var.account, linesIn(text));
      return { to: `${accountPath}#ssh-keys`, result: { text: "Your SSH keys are saved." } };
    },
  }),
);
