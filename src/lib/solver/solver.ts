/** libsolv as a typed object. Everything except opening it is synchronous. */
import type { PackageType } from "#lib/contract/index";
import { type Compression, Decoder, type DecoderLimits } from "./decoder.ts";
import { type Job, jobLines } from "./job.ts";
import { type Address, Native } from "./native.ts";
import { type DescriptionFields, descriptionOf, type PackageDescription } from "./package.ts";
import { Repository } from "./repository.ts";
import { type Resolution, resolutionOf } from "./resolution.ts";

export type Arch = "x86_64" | "i686" | "aarch64";

export interface SolveOptions {
  /** Follow recommends and supplements, like `zypper install --recommends`; if false, like `--no-recommends`. */
  recommended?: boolean;
}

export interface Dependencies {
  requires: string[];
  provides: string[];
  conflicts: string[];
  obsoletes: string[];
  recommends: string[];
  suggests: string[];
  supplements: string[];
  enhances: string[];
}

/** zypper's default priority of a repository. */
const defaultPriority = 99;

/** The kind of system that a solver chooses packages for. */
interface System {
  arch: Arch;
  packageType: PackageType;
}

/** Debian's names of the architectures. */
const debArches: Record<Arch, string> = { x86_64: "amd64", i686: "i386", aarch64: "arm64" };

export async function openSolver(
  module: WebAssembly.Module,
  arch: Arch = "x86_64",
  packageType: PackageType = "rpm",
): Promise<Solver> {
  return new Solver(await Native.open(module), { arch, packageType });
}

export class Solver {
  readonly #native: Native;
  #system: System;
  #pool: Address;

  constructor(native: Native, system: System) {
    this.#native = native;
    this.#system = system;
    this.#pool = this.#newPool();
  }

  get memoryBytes(): number {
    return this.#native.memoryBytes;
  }

  /** The bytes of memory, including the loaded parts, whose texts are read on demand. */
  get heldBytes(): number {
    return this.#native.memoryBytes + this.#native.files.heldBytes;
  }

  get packageType(): PackageType {
    return this.#system.packageType;
  }

  get callCount(): number {
    return this.#native.callCount;
  }

  /** Whether the instance is unusable. After a crash or `close`, every method throws `SolverCrashed`. */
  get isGone(): boolean {
    return this.#native.isGone;
  }

  /**
   * Removes all repositories and reuses the instance. A dropped one would hold its memory until it is garbage
   * collected.
   */
  reset(system: Partial<System> = {}): void {
    this.#system = { ...this.#system, ...system };
    this.#native.call((exports) => exports.kiln_pool_free(this.#pool));
    this.#native.files.clear();
    this.#pool = this.#newPool();
  }

  close(cause: unknown = "closed"): void {
    this.#native.close(cause);
  }

  /** Adds an empty repository. As in zypper, a lower priority number wins over any version. */
  addRepository(name: string, { priority = defaultPriority }: { priority?: number } = {}): Repository {
    const id = this.#native.withTexts([name], (exports, [text = 0]) =>
      exports.kiln_repository(this.#pool, text, -priority),
    );
    return new Repository(this.#native, this.#pool, id);
  }

  /** Builds the index of all loaded packages. Call it before any query, and again after loading more. */
  ready(): void {
    this.#native.call((exports) => exports.kiln_ready(this.#pool));
  }

  solve(jobs: readonly Job[], { recommended = true }: SolveOptions = {}): Resolution {
    const answer = this.#native.withTexts([jobLines(jobs)], (exports, [lines = 0]) =>
      exports.kiln_solve(this.#pool, lines, recommended ? 0 : 1),
    );
    return resolutionOf(this.#native.takeJson(answer));
  }

  /**
   * Searches names for a substring, ignoring case. With `allFields` also summaries and descriptions, which needs full
   * parts.
   */
  search(text: string, { allFields = false, limit = 50 } = {}): { hits: PackageDescription[]; total: number } {
    const answer = this.#native.withTexts([text], (exports, [needle = 0]) =>
      exports.kiln_search(this.#pool, needle, allFields ? 1 : 0, limit),
    );
    const { hits, total } = this.#native.takeJson(answer) as { hits: DescriptionFields[]; total: number };
    return { hits: hits.map(descriptionOf), total };
  }

  /** The newest package of that name. */
  info(name: string): (PackageDescription & { dependencies: Dependencies }) | undefined {
    const answer = this.#native.withTexts([name], (exports, [text = 0]) => exports.kiln_info(this.#pool, text));
    const [fields, dependencies] = this.#native.takeJson(answer) as [DescriptionFields?, Dependencies?];
    return fields && dependencies && { ...descriptionOf(fields), dependencies };
  }

  /** The packages that provide a capability; if `evr` is given, in exactly this version. */
  providers(capability: string, evr = ""): PackageDescription[] {
    const answer = this.#native.withTexts([capability, evr], (exports, [text = 0, version = 0]) =>
      exports.kiln_providers(this.#pool, text, version),
    );
    return (this.#native.takeJson(answer) as DescriptionFields[]).map(descriptionOf);
  }

  /** Compares `[epoch:]version[-release]` in the order of rpm, or of Debian: negative, zero or positive. */
  compareEvr(left: string, right: string): number {
    return this.#native.withTexts([left, right], (exports, [one = 0, other = 0]) =>
      exports.kiln_compare_evr(this.#pool, one, other),
    );
  }

  /** Creates a decoder, which uses this instance's memory. */
  decoder(compression: Compression, limits: DecoderLimits): Decoder {
    return new Decoder(this.#native, compression, limits);
  }

  #newPool(): Address {
    const { arch, packageType } = this.#system;
    const isDeb = packageType === "deb";
    return this.#native.withTexts([isDeb ? debArches[arch] : arch], (exports, [name = 0]) =>
      exports.kiln_pool(name, isDeb ? 1 : 0),
    );
  }
}
