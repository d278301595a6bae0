import { FeedFault } from "./advisory.ts";

/** A value of a JSON text, and the keys that lead to it; in an array, its position is missing. */
export interface JsonValue {
  keys: string[];
  text: string;
}

/** No entry of a feed is nearly as large. */
const maxValueCharacters = 4 * 1024 * 1024;

/**
 * Yields the objects at one depth, in order, of a JSON text that is too large to be parsed as a whole. At depth 0 the
 * text may have several objects, one after the other. Other values are skipped. This only follows the structure; faults
 * in the values are found when they are parsed.
 */
export async function* jsonObjects(
  chunks: AsyncIterable<string>,
  depth: number,
  rest: () => Promise<void>,
): AsyncGenerator<JsonValue> {
  const scan = new Scan(depth);
  for await (const chunk of chunks) {
    yield* scan.read(chunk);
    await rest();
  }
  scan.end();
}

class Scan {
  readonly #depth: number;
  /** Has an item for each open container, with the key that it is read under. */
  readonly #open: { isObject: boolean; key: string }[] = [];
  /** The last string outside of wanted values. Before a container, it is its key. */
  #string = "";
  #isInString = false;
  #isEscaped = false;
  /** The pieces of the wanted value that have arrived. */
  #value: string[] | undefined;
  #characters = 0;

  constructor(depth: number) {
    this.#depth = depth;
  }

  *read(chunk: string): Generator<JsonValue> {
    let valueFrom = 0;
    let stringFrom = 0;
    for (let at = 0; at < chunk.length; at++) {
      const mark = chunk.charCodeAt(at);
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (mark === 0x5c) this.#isEscaped = true;
        else if (mark === 0x22) {
          this.#isInString = false;
          if (!this.#value) this.#string += chunk.slice(stringFrom, at);
        }
      } else if (mark === 0x22) {
        this.#isInString = true;
        if (!this.#value) this.#string = "";
        stringFrom = at + 1;
      } else if (mark === 0x7b || mark === 0x5b) {
        if (!this.#value && this.#open.length === this.#depth && mark === 0x7b) {
          this.#value = [];
          this.#characters = 0;
          valueFrom = at;
        }
        this.#open.push({ isObject: mark === 0x7b, key: this.#string });
        if (!this.#value) this.#string = "";
      } else if (mark === 0x7d || mark === 0x5d) {
        const closed = this.#open.pop();
        if (closed?.isObject !== (mark === 0x7d)) throw new FeedFault("The brackets of the JSON do not match.");
        if (this.#value && this.#open.length === this.#depth) {
          const keys = [...this.#open.slice(1).map(({ key }) => key), closed.key];
          yield { keys, text: [...this.#value, chunk.slice(valueFrom, at + 1)].join("") };
          this.#value = undefined;
          this.#string = "";
        }
      }
    }
    if (this.#isInString && !this.#value) this.#string += chunk.slice(stringFrom);
    if (this.#value) this.#keep(chunk.slice(valueFrom));
  }

  end(): void {
    if (this.#open.length > 0 || this.#isInString) throw new FeedFault("The JSON ends too early.");
  }

  #keep(piece: string): void {
    this.#characters += piece.length;
    if (this.#characters > maxValueCharacters) throw new FeedFault("An entry of the JSON is too large.");
    this.#value?.push(piece);
  }
}
