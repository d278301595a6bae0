import type { FrozenInput, Phase } from "../contract.ts";
import type { BaseShare } from "../prepared/base-share.ts";
import type { RootShare } from "../prepared/share.ts";
import type { KiwiPaths } from "./kiwi.ts";
import type { RootTree } from "./root-walk.ts";

/** A description and its keys in a work directory. */
export interface KiwiJob {
  input: FrozenInput;
  paths: KiwiPaths;
  workDir: string;
  /** Files of the public keys that the image's rpm must trust. */
  keys: readonly string[];
  /**
   * Fetches into `paths` the packages and files that are needed to prepare a root. Call it once, and only if a root is
   * prepared.
   */
  fetch: () => Promise<void>;
  /** Shares the root with other builds. Without it, the root is prepared for this build only. */
  share?: RootShare | undefined;
  /** The base of a Debian root that is prepared on this host. */
  base?: BaseShare | undefined;
  /**
   * Starts to read a prepared root while KIWI makes the image from it. End it before KIWI's directory is cleaned up.
   */
  storeAhead?: ((root: RootTree) => Promise<{ end(): Promise<void> }>) | undefined;
  signal: AbortSignal;
  onLine: (line: string) => void;
  onPhase: (phase: Phase) => void;
}

/** Runs KIWI, on this host or in a guest. */
export interface KiwiRunner {
  /** The directory that the description names as its repository, as KIWI will see it. */
  repository(paths: KiwiPaths): string;
  /** Makes the image in the target directory. Returns the tree that it was made from. */
  run(job: KiwiJob): Promise<RootTree>;
}
