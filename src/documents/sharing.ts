import type { Sharing } from "#domain/appliances/sharing";
import type { SharingWarning } from "#domain/appliances/sharing-warnings";
import { exposedKinds } from "#model/exposed-secrets";
import { arrayOf, bool, countedOf, fields, id, inside, oneOf, text } from "#lib/wire/field";
import * as leaves from "#lib/wire/leaf";
import { document } from "#lib/wire/shape";

/** A client learns from `count` whether the appliance is shared at all. */
export const sharing = document(
  "Sharing",
  "appliance",
  fields({
    id: id(({ applianceId }: Sharing) => applianceId, 1004),
    read_users: inside("usernames", countedOf("username", leaves.text("odo"))),
  }),
);

const sentences: Record<SharingWarning["kind"], (name: string) => string> = {
  user_password: (name) =>
    `The image has the hash of the password that you gave ${name}. Anyone with the image can try to guess it.`,
  database_password: (name) =>
    `The image has the hash of the password of the database user ${name}. Anyone with the image can try to guess it.`,
  overlay_file: (name) =>
    `${name} looks like a secret. It is in the image, and anyone who reads or clones the appliance gets it.`,
  script: (name) =>
    `The ${name} script seems to contain a password or a key. Anyone who reads or clones the appliance sees it.`,
  user_repository: () =>
    "The image has an address of your user repository. Anyone with the image can read all packages that you uploaded for its base system.",
};

export const warningText = ({ kind, name }: Pick<SharingWarning, "kind" | "name">): string => sentences[kind](name);

const warning = fields({
  kind: oneOf("kind", exposedKinds),
  name: text("name", "root"),
  current: bool("isCurrent", true),
  versions: inside("versions", arrayOf("version", leaves.version("0.0.2"))),
  text: text((one: SharingWarning) => warningText(one), sentences.user_password("root")),
});

/** A Kiln extension: what others learn from an appliance and its images. */
export const sharingWarnings = document(
  "SharingWarnings",
  "sharing_warnings",
  fields({
    appliance_id: id("applianceId", 1004),
    complete: bool("isComplete", true),
    warnings: inside("warnings", arrayOf("warning", warning)),
  }),
);
