import type { Sharing } from "#domain/appliances/sharing";
import { countedOf, fields, id, inside } from "#wire/field";
import * as leaves from "#wire/leaf";
import { document } from "#wire/shape";

/** A client learns from `count` whether the appliance is shared at all. */
export const sharing = document(
  "Sharing",
  "appliance",
  fields({
    id: id(({ applianceId }: Sharing) => applianceId, 1004),
    read_users: inside("usernames", countedOf("username", leaves.text("odo"))),
  }),
);
