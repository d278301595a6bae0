import type { FrozenFile } from "#contract/index";
import type { Configuration } from "#domain/configuration/configuration";
import type { DescriptionFacts } from "#kiwi/description";

/** People of a database server; `verifier` is what the server keeps in place of a password. */
export interface DatabaseFacts {
  type: Configuration["databases"][number]["type"];
  users: { username: string; verifier: string; databases: string[] }[];
}

/** All of an appliance that reaches its image, without a password in clear. */
export interface ImageFacts
  extends
    DescriptionFacts,
    Pick<
      Configuration,
      "description" | "website" | "network" | "firewall" | "eulas" | "autostarts" | "settings" | "scripts"
    > {
  /** As people call it; `name` is KIWI's. */
  title: string;
  databases: DatabaseFacts[];
  /** In the order in which they are put in place: of two with the same path the later one stays. */
  overlay: FrozenFile[];
}
