import type { FrozenInput, Phase } from "../contract.ts";
import type { BaseShare } from "../prepared/base-share.ts";
import type { RootShare } from "../prepared/share.ts";
import type { KiwiPlace } from "./kiwi.ts";
import type { RootTree } from "./root-walk.ts";

/** A description and its keys in a work directory. */
export interface KiwiJob {
  input: FrozenInput;
  place: KiwiPlace;
  workDir: string;
  /** Files of the public keys that the image's rpm must trust. */
  keys: readonly string[];
  /** Puts the packages and all else that a root is prepared with into the place. To be asked once, by who prepares one. */
  fetch: () => Promise<void>;
  /** Where the root may come from, and go to. Absent: it is prepared for this build only. */
  share?: RootShare;
  /** What a Debian root starts from, if it is prepared on this host. */
  base?: BaseShare;
  /** Reads a prepared root while KIWI makes the image from it; KIWI's directory is not cleaned up before that has ended. */
  storeAhead?: ((root: RootTree) => Promise<{ end(): Promise<void> }>) | undefined;
  signal: AbortSignal;
  onLine: (line: string) => void;
  onPhase: (phase: Phase) => void;
}

/** Where KIWI runs: on this host, or in a guest. */
export interface KiwiRunner {
  /** The directory that the description names as its repository, as KIWI will see it. */
  repository(place: KiwiPlace): string;
  /** Puts KIWI's image into the place's target directory. → the tree that it was made from. */
  run(job: KiwiJob): Promise<RootTree>;
}
