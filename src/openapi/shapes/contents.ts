import { arrayOf, bool, digest, document, fields, id, int, marked, oneOf, optional, text, url } from "#openapi/shape";

const metadata = {
  filename: text("counter.conf"),
  path: text("/etc"),
  owner: text("root"),
  group: text("root"),
  permissions: text("644"),
  enabled: bool(true),
};

export const overlayFile = fields({
  id: id(61),
  ...metadata,
  size: int(1290),
  checksum: marked({ type: oneOf("md5") }, digest("7b1f3a0c5d9e4e0f8a2b6c1d3e5f7a90")),
  download_url: url("https://kiln.example.org/api/v2/user/files/61/data"),
});

export const file = document("File", "file", overlayFile);
export const files = document("Files", "files", arrayOf("file", overlayFile));

/** What is left out stays as it is; `id`, `size`, `checksum` and `download_url` are read over. */
export const wantedFile = document(
  "WantedFile",
  "file",
  fields(Object.fromEntries(Object.entries(metadata).map(([name, shape]) => [name, optional(shape)]))),
);

const key = fields({
  id: id(3),
  name: text("Reading room packages"),
  target: oneOf("rpm"),
  key: text("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n…\n-----END PGP PUBLIC KEY BLOCK-----\n"),
});

export const gpgKey = document("GpgKey", "gpg_key", key);
export const gpgKeys = document("GpgKeys", "gpg_keys", arrayOf("gpg_key", key));
