import type { BuildClaim, Phase } from "./contract.ts";
import { startBuild, type BuildParts, type RunningBuild } from "./run/run-build.ts";

/**
 * The builds on this host. A build that only uploads takes no slot, because it leaves the processors idle: as many may
 * upload as there are slots.
 */
export class RunningBuilds {
  readonly #slots: number;
  /** Called when a slot is free again. */
  readonly #onFree: () => void;
  readonly #builds = new Map<number, RunningBuild>();
  readonly #uploading = new Set<number>();

  constructor(slots: number, onFree: () => void) {
    this.#slots = slots;
    this.#onFree = onFree;
  }

  start(claim: BuildClaim, parts: BuildParts): void {
    const { buildId } = claim;
    const onPhase = (phase: Phase) => {
      if (phase !== "Uploading the image") return;
      this.#uploading.add(buildId);
      this.#onFree();
    };
    const build = startBuild(claim, { ...parts, onPhase });
    this.#builds.set(buildId, build);
    void build.done.finally(() => {
      this.#builds.delete(buildId);
      this.#uploading.delete(buildId);
      this.#onFree();
    });
  }

  get isEmpty(): boolean {
    return this.#builds.size === 0;
  }

  /** How many take a slot. */
  get inSlots(): number {
    return this.#builds.size - Math.min(this.#uploading.size, this.#slots);
  }

  get newest(): RunningBuild | undefined {
    return [...this.#builds.values()].at(-1);
  }

  cancel(buildId: number): void {
    this.#builds.get(buildId)?.stop("cancelled");
  }

  /** Gives all builds back, and waits until they have ended. */
  async release(): Promise<void> {
    const all = [...this.#builds.values()];
    for (const build of all) build.stop("released");
    await Promise.all(all.map(({ done }) => done));
  }
}
