import type { FrozenFile } from "#lib/contract/index";
import type { DescriptionFacts } from "#lib/kiwi/description";
import type { Configuration } from "#lib/configuration/stored";

/** Users of a database server. `verifier` is what the server stores instead of a password. */
export interface DatabaseFacts {
  type: Configuration["databases"][number]["type"];
  users: { username: string; verifier: string; databases: string[] }[];
}

/** A repository of packages that the owner has uploaded, as machines reach it. */
export interface MachineRepository {
  url: string;
  /** The fingerprint of the key that signs it. */
  fingerprint: string;
  armour: string;
}

/** Everything in an appliance that goes into its image, without clear-text passwords. */
export interface ImageFacts
  extends
    DescriptionFacts,
    Pick<
      Configuration,
      "description" | "website" | "network" | "firewall" | "eulas" | "autostarts" | "scripts" | "checks"
    > {
  /** The appliance's name for users; `name` is KIWI's. */
  title: string;
  settings: Configuration["settings"];
  databases: DatabaseFacts[];
  /** The installed product's file in /etc/products.d, without its extension. */
  product?: string;
  /** The owner's uploads, if machines may read them. */
  uploads?: MachineRepository;
  /** The appliance's files in the order of installation. If two have the same path, the later one wins. */
  overlay: FrozenFile[];
}
