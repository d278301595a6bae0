import { z } from "zod";
import { gpgKey, gpgKeys as gpgKeysDocument } from "#documents/gpg-key";
import { success } from "#documents/success";
import { getGpgKey, importGpgKey, removeGpgKey } from "#domain/contents/gpg-key";
import { listGpgKeys } from "#storage/gpg-keys";
import { call, type CallGroup } from "#api/call";
import { readKeyRequest } from "#api/gpg-key-request";
import { ofOwn, ofReadable } from "#api/of-appliance";
import { parseParams } from "#http/params";

/** The key may also be sent as a file. */
const NewKey = z.object({
  name: z.string({ error: "invalid_name" }),
  target: z.literal("rpm", { error: "invalid_target" }),
  key: z.string().optional(),
});

const ids = { appliance_id: "invalid_appliance_id", key_id: "invalid_gpg_key_id" } as const;

export const gpgKeys: CallGroup = {
  title: "GPG keys",
  about: "Public keys that a build imports into the image's keyring.",
  operations: [
    call("GET /appliances/{appliance_id}/gpg_keys", {
      name: "listGpgKeys",
      ...ofReadable,
      summary: "The GPG keys of an appliance",
      answer: gpgKeysDocument,
      act: ({ db }, { found: { id } }) => listGpgKeys(db, id),
    }),
    call("POST /appliances/{appliance_id}/gpg_keys", {
      name: "addGpgKey",
      rate: "uploads",
      ...ofOwn,
      summary: "Add a GPG key",
      besideFile: NewKey,
      about: { name: "Name of the key." },
      takes: { kind: "file", what: "The key, unless it is the parameter key.", mayBeAbsent: true },
      answer: gpgKey,
      refuses: ["invalid_name", "invalid_target", "invalid_key", "key_already_exists", "unknown_error"],
      act: async ({ db, account, requestId }, { found: { id } }, c) => {
        const { params, key } = await readKeyRequest(c);
        const { name, target } = parseParams(NewKey, params);
        return await importGpgKey(db, { id, accountId: account.id }, { name, target, key, requestId });
      },
    }),
    call("GET /appliances/{appliance_id}/gpg_keys/{key_id}", {
      name: "getGpgKey",
      ...ofReadable,
      ids,
      summary: "A GPG key",
      answer: gpgKey,
      act: ({ db }, { found: { id }, key_id }) => getGpgKey(db, id, key_id),
    }),
    call("DELETE /appliances/{appliance_id}/gpg_keys/{key_id}", {
      name: "deleteGpgKey",
      ...ofOwn,
      ids,
      summary: "Remove a GPG key",
      answer: success,
      act: ({ db }, { found: { id }, key_id }) => removeGpgKey(db, id, key_id),
    }),
  ],
};
