import { arrayOf, fields, id, oneOf, text } from "#lib/wire/field";
import { document } from "#lib/wire/shape";

/** The element `gpg_key` (compatibility.md, "GPG keys"): its armour as it was sent. */
const key = fields({
  id: id("id", 3),
  name: text("name", "Reading room packages"),
  target: oneOf("target", ["rpm"]),
  key: text("key", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n…\n-----END PGP PUBLIC KEY BLOCK-----\n"),
});

export const gpgKey = document("GpgKey", "gpg_key", key);
export const gpgKeys = document("GpgKeys", "gpg_keys", arrayOf("gpg_key", key));
