/** The WASM instance: calls it with text arguments and results, and discards it after a crash. */
import { MemoryFiles } from "./memory-files.ts";
import { wasiImports } from "./wasi.ts";

/** A pointer in C. */
export type Address = number;

/** The functions that native/*.c exports. scripts/build-solver.ts compiles them. */
export interface NativeExports {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  kiln_alloc(size: number): Address;
  kiln_free(memory: Address): void;
  kiln_pool(arch: Address, isDeb: number): Address;
  kiln_pool_free(pool: Address): void;
  kiln_repository(pool: Address, name: Address, priority: number): number;
  kiln_count(pool: Address, repository: number): number;
  kiln_ready(pool: Address): void;
  kiln_error(pool: Address): Address;
  kiln_compare_evr(pool: Address, left: Address, right: Address): number;
  kiln_write(pool: Address, repository: number, file: number, forSolving: number): number;
  kiln_read_solv(pool: Address, repository: number, file: number): number;
  kiln_read_primary(pool: Address, repository: number, file: number): number;
  kiln_read_deb(pool: Address, repository: number, file: number): number;
  kiln_read_updateinfo(pool: Address, repository: number, file: number): number;
  kiln_read_susetags(pool: Address, repository: number, file: number, language: Address): number;
  kiln_read_content(pool: Address, repository: number, file: number): number;
  kiln_read_rpm(
    ...given: [pool: Address, repository: number, file: number, location: Address, sha256: Address, sizeBytes: number]
  ): number;
  kiln_internalize(pool: Address, repository: number): void;
  kiln_solve(pool: Address, lines: Address, withoutRecommended: number): Address;
  kiln_list(pool: Address, repository: number, first: number, limit: number): Address;
  kiln_search(pool: Address, text: Address, allFields: number, limit: number): Address;
  kiln_providers(pool: Address, capability: Address, evr: Address): Address;
  kiln_info(pool: Address, name: Address): Address;
  kiln_decoder(isXz: number, memoryBytes: number): Address;
  kiln_decoder_free(decoder: Address): void;
  kiln_decoder_input(decoder: Address): Address;
  kiln_decoder_output(decoder: Address): Address;
  kiln_decoder_input_bytes(): number;
  kiln_decoder_fill(decoder: Address, bytes: number): void;
  kiln_decode(decoder: Address, isLast: number): number;
}

/**
 * The instance no longer works: its code trapped or ran out of memory, or it was closed. The next use needs a new one.
 */
export class SolverCrashed extends Error {
  constructor(cause: unknown) {
    super(`the solver instance has ended: ${String(cause)}`, { cause });
  }
}

const textEncoder = new TextEncoder();
const textDecoder = new TextDecoder();

export class Native {
  readonly files = new MemoryFiles();
  /** Grows with every call, which distinguishes an instance in use from an abandoned one. */
  callCount = 0;
  #exports: NativeExports | undefined;
  #gone: SolverCrashed | undefined;

  static async open(module: WebAssembly.Module): Promise<Native> {
    const native = new Native();
    const wasi = wasiImports(native.files, () => native.#alive().memory.buffer as ArrayBuffer);
    const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi });
    native.#exports = instance.exports as unknown as NativeExports;
    // oxlint-disable-next-line no-underscore-dangle -- WASI's name for it
    native.call((exports) => exports._initialize());
    return native;
  }

  get isGone(): boolean {
    return this.#gone !== undefined;
  }

  /** WASM memory never shrinks, so this is also its peak. */
  get memoryBytes(): number {
    return this.#exports?.memory.buffer.byteLength ?? 0;
  }

  /** Every call into compiled code goes through here. Any exception ends the instance. */
  call<T>(work: (exports: NativeExports) => T): T {
    const exports = this.#alive();
    this.callCount += 1;
    try {
      return work(exports);
    } catch (error) {
      throw this.close(error);
    }
  }

  /** Calls with the addresses of texts, and frees them afterwards. */
  withTexts<T>(texts: readonly string[], work: (exports: NativeExports, addresses: Address[]) => T): T {
    return this.call((exports) => {
      const addresses = texts.map((text) => this.#place(exports, text));
      const result = work(exports, addresses);
      for (const address of addresses) exports.kiln_free(address);
      return result;
    });
  }

  /** Parses JSON text that compiled code returned, and frees it. */
  takeJson(address: Address): unknown {
    const json = this.call((exports) => {
      const text = this.textAt(address);
      exports.kiln_free(address);
      return text;
    });
    return JSON.parse(json);
  }

  textAt(address: Address): string {
    const memory = this.bytes();
    return textDecoder.decode(memory.subarray(address, memory.indexOf(0, address)));
  }

  /** The whole memory at this moment. Any call may replace its buffer. */
  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#alive().memory.buffer as ArrayBuffer);
  }

  /** Releases the instance's memory. Later calls on this object throw the reason. */
  close(cause: unknown): SolverCrashed {
    this.#gone ??= new SolverCrashed(cause);
    this.#exports = undefined;
    this.files.clear();
    return this.#gone;
  }

  #alive(): NativeExports {
    if (this.#exports && !this.#gone) return this.#exports;
    throw this.#gone ?? new SolverCrashed("not yet instantiated");
  }

  #place(exports: NativeExports, text: string): Address {
    const bytes = textEncoder.encode(text);
    const address = exports.kiln_alloc(bytes.length + 1);
    if (address === 0) throw new Error("out of memory");
    const memory = this.bytes();
    memory.set(bytes, address);
    memory[address + bytes.length] = 0;
    return address;
  }
}
