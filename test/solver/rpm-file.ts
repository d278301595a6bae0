/** The first bytes of an rpm: lead, an empty signature and the header. The solver reads nothing else. */
export interface RpmFields {
  name: string;
  version: string;
  release: string;
  arch: string;
  requires?: string[];
}

type Entry = { tag: number; type: number; count: number; bytes: Uint8Array };

const textEncoder = new TextEncoder();

export function rpmHeader({ name, version, release, arch, requires = [] }: RpmFields): Uint8Array {
  const entries = [
    text(1000, name),
    text(1001, version),
    text(1002, release),
    numbers(1009, [4096]),
    text(1022, arch),
    text(1044, `${name}-${version}-${release}.src.rpm`),
    texts(1047, [name]),
    numbers(
      1048,
      requires.map(() => 0),
    ),
    texts(1049, requires),
    texts(
      1050,
      requires.map(() => ""),
    ),
    numbers(1112, [8]),
    texts(1113, [`${version}-${release}`]),
    text(1124, "cpio"),
  ];
  const present = entries.filter(({ count }) => count > 0);
  return joined([lead(), header([]), header(present)]);
}

function lead(): Uint8Array {
  const bytes = new Uint8Array(96);
  bytes.set([0xed, 0xab, 0xee, 0xdb, 3, 0]);
  bytes[79] = 5;
  return bytes;
}

function header(entries: readonly Entry[]): Uint8Array {
  const index = new DataView(new ArrayBuffer(16 + entries.length * 16));
  const store: Uint8Array[] = [];
  let length = 0;
  entries.forEach(({ tag, type, count, bytes }, at) => {
    const padding = type === 4 ? -length & 3 : 0;
    store.push(new Uint8Array(padding), bytes);
    [tag, type, length + padding, count].forEach((value, field) => index.setUint32(16 + at * 16 + field * 4, value));
    length += padding + bytes.length;
  });
  index.setUint32(0, 0x8eade801);
  index.setUint32(8, entries.length);
  index.setUint32(12, length);
  return joined([new Uint8Array(index.buffer), ...store]);
}

const text = (tag: number, value: string): Entry => ({
  tag,
  type: 6,
  count: 1,
  bytes: textEncoder.encode(`${value}\0`),
});
const texts = (tag: number, values: string[]): Entry => ({
  tag,
  type: 8,
  count: values.length,
  bytes: textEncoder.encode(values.map((value) => `${value}\0`).join("")),
});

function numbers(tag: number, values: number[]): Entry {
  const view = new DataView(new ArrayBuffer(values.length * 4));
  values.forEach((value, at) => view.setInt32(at * 4, value));
  return { tag, type: 4, count: values.length, bytes: new Uint8Array(view.buffer) };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}
