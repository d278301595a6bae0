/** The exit codes of `rebuild`, which are those of the command line `kiln`. */
export const exits = { same: 0, differs: 2, impossible: 4, unverified: 6, misused: 64 } as const;

/** There is no second image. The message says why, in one line. */
export class NoRebuild extends Error {
  readonly exit: (typeof exits)["impossible" | "unverified"];
  constructor(why: "impossible" | "unverified", message: string, options?: ErrorOptions) {
    super(message, options);
    this.exit = exits[why];
  }
}

export const unverified = (message: string): NoRebuild => new NoRebuild("unverified", message);
export const impossible = (message: string, options?: ErrorOptions): NoRebuild =>
  new NoRebuild("impossible", message, options);
