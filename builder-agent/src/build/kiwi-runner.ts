import type { FrozenInput, Phase } from "../contract.ts";
import type { RootShare } from "../prepared/share.ts";
import type { KiwiPlace } from "./kiwi.ts";
import type { RootTree } from "./root-walk.ts";

/** A description, its packages and its keys, ready in a work directory. */
export interface KiwiJob {
  input: FrozenInput;
  place: KiwiPlace;
  workDir: string;
  /** Files of the public keys that the image's rpm shall trust. */
  keys: readonly string[];
  /** Where the root may come from, and go to; absent: it is prepared, and nobody else wants it. */
  share?: RootShare;
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
