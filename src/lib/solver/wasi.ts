/**
 * The twelve calls of wasi_snapshot_preview1 that the module makes, served from memory.
 * Layouts and numbers: https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md
 */
import { type MemoryFile, type MemoryFiles, readAt } from "./memory-files.ts";

const errno = { success: 0, badf: 8, inval: 28, spipe: 70 } as const;
const regularFile = 4;
const allRights = 0xffff_ffff_ffff_ffffn;
const standardErrors = 2;

/** The module called exit(), for example after a failed assertion in a library. */
class SolverExit extends Error {}

/** A search took more steps than native/limits.c allows. The same request ends in this way again. */
export class SearchTooLong extends Error {}

/** The exit code of native/limits.c. */
const tooLong = 75;

/** `memory` is a function, because it exists only after instantiation and its buffer changes when it grows. */
export function wasiImports(files: MemoryFiles, memory: () => ArrayBuffer): WebAssembly.ModuleImports {
  const view = () => new DataView(memory());
  return { ...environment(view), ...descriptions(files, view), ...transfers(files, memory) };
}

function environment(view: () => DataView): WebAssembly.ModuleImports {
  return {
    environ_get: () => errno.success,
    environ_sizes_get: (count: number, size: number) => {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return errno.success;
    },
    // Only expat calls this, for the salt of its hash tables. A constant makes every run the same.
    clock_time_get: (_clock: number, _precision: bigint, time: number) => {
      view().setBigUint64(time, 0n, true);
      return errno.success;
    },
    proc_exit: (code: number) => {
      if (code === tooLong) throw new SearchTooLong("its search took too many steps");
      throw new SolverExit(`the solver called exit(${code})`);
    },
  };
}

function descriptions(files: MemoryFiles, view: () => DataView): WebAssembly.ModuleImports {
  return {
    // Does nothing: libsolv reads pages of a .solv long after it has closed it. The owner removes the file.
    fd_close: () => errno.success,
    fd_fdstat_set_flags: () => errno.success,
    fd_fdstat_get: (number: number, status: number) => {
      if (number > standardErrors && !files.find(number)) return errno.badf;
      const to = view();
      to.setUint8(status, regularFile);
      to.setUint8(status + 1, 0);
      to.setUint16(status + 2, 0, true);
      to.setBigUint64(status + 8, allRights, true);
      to.setBigUint64(status + 16, allRights, true);
      return errno.success;
    },
    fd_filestat_get: (number: number, status: number) => {
      const file = files.find(number);
      if (!file) return errno.badf;
      const to = view();
      for (let offset = 0; offset < 64; offset += 8) to.setBigUint64(status + offset, 0n, true);
      to.setUint8(status + 16, regularFile);
      to.setBigUint64(status + 32, BigInt(lengthOf(file)), true);
      return errno.success;
    },
    fd_seek: (number: number, offset: bigint, whence: number, position: number) => {
      const file = files.find(number);
      if (file?.kind !== "readable") return file ? errno.spipe : errno.badf;
      const target = Number(offset) + ([0, file.position, file.bytes.length][whence] ?? Number.NaN);
      if (!(target >= 0)) return errno.inval;
      file.position = target;
      view().setBigUint64(position, BigInt(target), true);
      return errno.success;
    },
  };
}

const lengthOf = (file: MemoryFile): number => (file.kind === "readable" ? file.bytes.length : file.lengthBytes);

function transfers(files: MemoryFiles, memory: () => ArrayBuffer): WebAssembly.ModuleImports {
  const finish = (transferred: number, result: number) => {
    new DataView(memory()).setUint32(result, transferred, true);
    return errno.success;
  };
  return {
    fd_read: (number: number, pieces: number, count: number, result: number) => {
      const file = files.find(number);
      if (file?.kind !== "readable") return errno.badf;
      const length = readPieces(file.bytes, file.position, piecesAt(memory(), pieces, count));
      file.position += length;
      return finish(length, result);
    },
    // oxlint-disable-next-line max-params -- WASI's signature
    fd_pread: (number: number, pieces: number, count: number, offset: bigint, result: number) => {
      const file = files.find(number);
      if (file?.kind !== "readable") return errno.badf;
      return finish(readPieces(file.bytes, Number(offset), piecesAt(memory(), pieces, count)), result);
    },
    fd_write: (number: number, pieces: number, count: number, result: number) => {
      const file = files.find(number);
      if (number > standardErrors && file?.kind !== "writable") return errno.badf;
      let length = 0;
      for (const piece of piecesAt(memory(), pieces, count)) {
        length += piece.length;
        // Library output is dropped. Errors are returned as values.
        if (file?.kind === "writable") file.chunks.push(piece.slice());
      }
      if (file?.kind === "writable") file.lengthBytes += length;
      return finish(length, result);
    },
  };
}

/** The memory ranges of a vectored read or write, given as pairs of address and length. */
function piecesAt(memory: ArrayBuffer, address: number, count: number): Uint8Array[] {
  const pairs = new DataView(memory, address, count * 8);
  return Array.from({ length: count }, (_, index) => {
    return new Uint8Array(memory, pairs.getUint32(index * 8, true), pairs.getUint32(index * 8 + 4, true));
  });
}

function readPieces(bytes: Uint8Array, from: number, pieces: readonly Uint8Array[]): number {
  let length = 0;
  for (const piece of pieces) length += readAt(bytes, from + length, piece);
  return length;
}
