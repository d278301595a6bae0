import type { Firmware } from "#lib/contract/index";
import type { InheritedAccess } from "#domain/appliances/inherited-access";
import type { Look } from "#domain/appliances/look";
import type { Configuration } from "#lib/configuration/stored";
import type { Selection } from "#storage/appliances";
import type { Build } from "#storage/builds";
import type { RunningTestdrive } from "../testdrive/running.tsx";
import type { Since } from "./overview-since.tsx";

/** The content of the page below the head. */
export interface Overview {
  look: Look;
  isOwn: boolean;
  /** The credentials that would let others log in to a clone of another account's appliance. */
  inherited: InheritedAccess;
  /** How many SSH keys the account has stored, if they are needed. */
  ownKeys: number;
  /** The last builds that have ended, newest first. */
  builds: readonly Build[];
  testdrives: readonly RunningTestdrive[];
  selection: readonly Selection[];
  repositories: number;
  configuration: Configuration;
  files: { count: number; bytes: number };
  readers: readonly string[];
  published: string | undefined;
  base: string;
  since: Since | undefined;
  /** Undefined if it is unknown, because the software was not resolved. */
  firmware: Firmware | undefined;
  /** The package that makes an image of this base system boot with UEFI, too. */
  efiBootLoader: string | undefined;
  /** The package that makes an image of this base system boot with Secure Boot, too. */
  signedLoader: string | undefined;
  /** The package that gives a disk of this base system a kernel that its owner can sign. */
  kernelMaker: string | undefined;
}
