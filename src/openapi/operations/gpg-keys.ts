import { NewKey } from "#api/appliances/gpg-keys";
import { both, xml, type Group } from "#openapi/operation";
import { gpgKey, gpgKeys as gpgKeysDocument } from "#openapi/shapes/contents";
import { success } from "#openapi/shapes/general";

export const gpgKeys: Group = {
  title: "GPG keys",
  about: "Public keys that a build imports into the image's keyring.",
  operations: [
    {
      name: "listGpgKeys",
      method: "GET",
      path: "/appliances/{appliance_id}/gpg_keys",
      versions: both,
      summary: "The appliance's keys",
      answer: xml(gpgKeysDocument),
      unknown: ["invalid_appliance_id"],
    },
    {
      name: "addGpgKey",
      method: "POST",
      path: "/appliances/{appliance_id}/gpg_keys",
      versions: both,
      summary: "Add a key",
      params: NewKey,
      about: { name: "What to call the key." },
      body: { kind: "file", what: "The key, unless it is the parameter key.", mayBeAbsent: true },
      answer: xml(gpgKey),
      unknown: ["invalid_appliance_id"],
      refusals: ["invalid_name", "invalid_target", "invalid_key", "key_already_exists", "unknown_error"],
    },
    {
      name: "getGpgKey",
      method: "GET",
      path: "/appliances/{appliance_id}/gpg_keys/{key_id}",
      versions: both,
      summary: "One key",
      answer: xml(gpgKey),
      unknown: ["invalid_appliance_id", "invalid_gpg_key_id"],
    },
    {
      name: "deleteGpgKey",
      method: "DELETE",
      path: "/appliances/{appliance_id}/gpg_keys/{key_id}",
      versions: both,
      summary: "Remove a key",
      answer: xml(success),
      unknown: ["invalid_appliance_id", "invalid_gpg_key_id"],
    },
  ],
};
