import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { type Facts, factsOf } from "./facts.ts";

/** The machines of an image that have booted, in a file next to it, so that a later run continues. */
export class BootedMachines {
  readonly #file: string;
  /** The SHA-256 of the image. The file may also have machines of an earlier image with the same name. */
  readonly #image: string;

  constructor(image: { path: string; sha256: string }) {
    this.#file = `${image.path}.machines`;
    this.#image = image.sha256;
  }

  all(): Facts[] {
    const lines = existsSync(this.#file) ? readFileSync(this.#file, "utf8").trim().split("\n") : [];
    return lines.flatMap((line) => {
      const { image, ...facts } = JSON.parse(line);
      return image === this.#image ? [factsOf(facts)] : [];
    });
  }

  add(facts: Facts): void {
    appendFileSync(this.#file, `${JSON.stringify({ image: this.#image, ...facts })}\n`);
  }
}
