import type { BuildFailed } from "../contract.ts";

/** A build that cannot come to an image, with the sentence for its owner. */
export class BuildFailure extends Error {
  readonly kind: BuildFailed["kind"];
  constructor({ kind, reason }: BuildFailed, options?: ErrorOptions) {
    super(reason, options);
    this.name = "BuildFailure";
    this.kind = kind;
  }
}
