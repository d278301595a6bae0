import { type ImportProgress, unimportedWords } from "#model/import-progress";
import type { Account, StoredBytes } from "#storage/accounts";
import type { Counted } from "#storage/limits";
import type { OfferedSet } from "#domain/appliances/template-set";
import { arrayOf, bool, fields, id, inside, int, plainListOf, repeated, text, time } from "#lib/wire/field";
import * as leaves from "#lib/wire/leaf";
import { document } from "#lib/wire/shape";

interface ShownAccount {
  account: Account;
  quota: { available: string; used: string };
}

const diskQuota = fields({ available: text("available", "20GB"), used: text("used", "3%") });

export const account = document(
  "Account",
  "account",
  fields({
    username: text(({ account }: ShownAccount) => account.username, "mira"),
    displayname: text(({ account }: ShownAccount) => account.displayName, "Mira Lenz"),
    email: text(({ account }: ShownAccount) => account.email, "mira@example.org"),
    mails_advisories: bool(({ account }: ShownAccount) => account.mailsAdvisories, false).inJson(),
    created_at: time(({ account }: ShownAccount) => account.createdAt, "2026-03-02T09:12:45Z"),
    // There is no sign-in by OpenID, but clients read the element.
    openid_urls: inside("openIdUrls", plainListOf("openid_url", leaves.url("https://id.example.org/mira"))),
    disk_quota: inside("quota", diskQuota),
  }),
);

interface ShownLimits {
  used: Counted;
  most: Counted;
  disk: { used: number; most: number; kinds: StoredBytes };
}

const usage = (used: number, most: number) => fields({ used: int("used", used), most: int("most", most) });

const limit = (name: keyof Counted, used: number, most: number) =>
  inside(({ used, most }: ShownLimits) => ({ used: used[name], most: most[name] }), usage(used, most));

/** A part of `disk_bytes`. */
const stored = (kind: keyof StoredBytes, bytes: number) =>
  int(({ disk }: ShownLimits) => disk.kinds[kind], bytes).inJson();

/** A Kiln extension: limits that have no place in the document `account`. */
export const limits = document(
  "Limits",
  "limits",
  fields({
    repositories: limit("repositories", 2, 50),
    packages: limit("packages", 1840, 300_000),
    repository_bytes: limit("repositoryBytes", 921_344, 209_715_200),
    appliances: limit("appliances", 7, 500),
    configuration_bytes: limit("configurationBytes", 14_210, 20_971_520),
    files: limit("files", 12, 20_000),
    uploaded_packages: limit("uploadedPackages", 4, 2000),
    comments: limit("comments", 3, 2000),
    webhooks: limit("webhooks", 1, 6),
    tokens: limit("tokens", 2, 50),
    uploads: limit("uploads", 1, 20),
    disk_bytes: inside(({ disk }: ShownLimits) => disk, usage(644_245_094, 21_474_836_480)),
    images_bytes: stored("images", 622_770_257),
    packages_bytes: stored("packages", 20_971_520),
    uploads_bytes: stored("uploads", 0),
    files_bytes: stored("files", 480_211),
    pictures_bytes: stored("pictures", 23_106),
  }),
);

export const apiVersion = document("ApiVersion", "version", leaves.text("2.0"));

type Template = OfferedSet["templates"][number];

/** Among the repositories that were never imported, the one whose packages are being read. */
const beingRead = (importing: Template["importing"]): ImportProgress | undefined =>
  importing.flatMap(({ importProgress }) => importProgress ?? [])[0];

const template = fields({
  appliance_id: id((template: Template) => template.applianceId, 1),
  name: text("name", "Tiny Linux 1.0, just enough OS"),
  description: text("description", "Boots to a prompt"),
  basesystem: text("baseSystem", "tiny-1.0"),
  importing: text(
    ({ importing }: Template) => unimportedWords(importing),
    "Debian 12 (24000 packages read, 38 %)",
  ).inJson(),
  packages_read: int(({ importing }: Template) => beingRead(importing)?.packages, 24_000).inJson(),
  import_percent: int(({ importing }: Template) => beingRead(importing)?.percent, 38).inJson(),
});

/** The element `template_set`: its templates are direct children (compatibility.md, "Template sets"). */
const set = fields({
  name: text("name", "default"),
  description: text("description", "Plain Tiny Linux"),
  template: repeated("templates", template),
});

export const templateSet = document("TemplateSet", "template_set", set);
export const templateSets = document("TemplateSets", "template_sets", arrayOf("template_set", set));
