import { rest } from "#lib/loop/pace";
import { ByteWindow } from "./byte-window.ts";
import { ElementEnds, ParagraphEnds } from "./record-ends.ts";
import { RepodataFault } from "./fault.ts";
import { concatenate, peek } from "./streams.ts";
import { type Head, type Layout, layouts } from "./slice-layouts.ts";

/** A small, complete document with some records of a large one. */
export interface Slice {
  bytes: Uint8Array;
  records: number;
}

export interface SliceLimits {
  /** A slice ends when it has this many records … */
  records: number;
  /** … or this many bytes, plus at most one record. */
  bytes: number;
  /** Limit of one record, which libsolv holds in memory. The longest real one (a kernel's) has 1.1 MB. */
  recordBytes: number;
}

const defaultLimits: SliceLimits = { records: 16_000, bytes: 4 * 2 ** 20, recordBytes: 4 * 2 ** 20 };
const maxHeadBytes = 64 * 1024;

/**
 * Documents that can be sliced. `susetags` is yast2's `packages`, `patterns` one of its pattern files, `deb` Debian's
 * `Packages`.
 */
export type SlicedDocument = keyof typeof layouts;

/**
 * Cuts primary.xml, updateinfo.xml, yast2's packages or patterns, or Debian's Packages into documents of limited size,
 * each with the original head. Rests after each slice and each chunk. Only one slice and one chunk are in memory.
 * Checks the head and the end, and refuses a DOCTYPE and an endless record. The parser of the slices gets every byte,
 * and checks the records.
 */
export async function* slices(
  source: ReadableStream<Uint8Array>,
  document: SlicedDocument,
  limits: Partial<SliceLimits> = {},
): AsyncGenerator<Slice> {
  const layout: Layout = layouts[document];
  const { start, stream } = await peek(source, maxHeadBytes);
  const slicer = new Slicer(layout.readHead(start), layout, { ...defaultLimits, ...limits });
  for await (const chunk of stream) {
    slicer.push(chunk);
    for (let slice = slicer.next(); slice; slice = slicer.next()) {
      yield slice;
      await rest();
    }
    await rest();
  }
  const last = slicer.finish();
  if (last) yield last;
}

class Slicer {
  readonly #window = new ByteWindow();
  readonly #ends: ElementEnds | ParagraphEnds;
  readonly #head: Head;
  readonly #layout: Layout;
  readonly #limits: SliceLimits;
  #sliceAt: number;
  #cutAt: number;
  #records = 0;

  constructor(head: Head, layout: Layout, limits: SliceLimits) {
    this.#head = head;
    this.#layout = layout;
    this.#limits = limits;
    this.#sliceAt = this.#cutAt = head.contentAt;
    this.#ends =
      "element" in layout.records
        ? new ElementEnds(this.#window, layout.records.element, head.contentAt, layout.what)
        : new ParagraphEnds(this.#window, layout.records.paragraph, head.contentAt);
  }

  push(chunk: Uint8Array): void {
    this.#window.append(chunk);
  }

  /** A full slice, if there are enough bytes for one. */
  next(): Slice | undefined {
    const { records, bytes, recordBytes } = this.#limits;
    while (this.#records < records && this.#cutAt - this.#sliceAt < bytes) {
      const end = this.#head.isEmpty ? undefined : this.#ends.next();
      if ((end ?? this.#window.filled) - this.#cutAt > recordBytes) throw this.#tooLong();
      if (end === undefined) return undefined;
      this.#cutAt = end;
      this.#records++;
    }
    return this.#take();
  }

  finish(): Slice | undefined {
    const rest = this.#window.view(this.#cutAt, this.#window.filled);
    if (this.#layout.readRest(rest, this.#head) === "record") {
      this.#cutAt = this.#window.filled;
      this.#records++;
    }
    return this.#records > 0 ? this.#take() : undefined;
  }

  #take(): Slice {
    const body = this.#window.view(this.#sliceAt, this.#cutAt);
    const slice = {
      bytes: concatenate([this.#head.bytes, body, new TextEncoder().encode(this.#layout.tail)]),
      records: this.#records,
    };
    this.#window.forgetBefore(this.#cutAt);
    this.#sliceAt = this.#cutAt;
    this.#records = 0;
    return slice;
  }

  #tooLong(): RepodataFault {
    const { recordBytes } = this.#limits;
    return new RepodataFault("too_large", `${this.#layout.what} has a record of more than ${recordBytes} bytes`);
  }
}
