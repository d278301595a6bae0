import type { Look } from "#domain/appliances/look";
import type { Configuration } from "#model/configuration";
import type { Selection } from "#storage/appliances";
import type { Build } from "#storage/builds";
import type { RunningTestdrive } from "../testdrive/running.tsx";

/** What the page shows below the head. */
export interface Overview {
  look: Look;
  isOwn: boolean;
  /** Over, newest first. */
  builds: readonly Build[];
  testdrives: readonly RunningTestdrive[];
  selection: readonly Selection[];
  repositories: number;
  configuration: Configuration;
  files: { count: number; bytes: number };
  readers: readonly string[];
  published: string | undefined;
  base: string;
}
