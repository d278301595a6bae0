import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { orderOf } from "../contract.ts";
import { writeAll } from "../files.ts";
import { HostileTar, readTar, type TarEntry, type TarMember } from "./tar.ts";

const defaultLimits = {
  /** A large desktop has about 400,000. */
  entries: 800_000,
  /** The limit in characters. This process and the agent have the list in memory, and names may be long. */
  list: 100 * 1024 * 1024,
};

export interface ResultTarget {
  dir: string;
  /** The limit for all files together, including holes. */
  maxBytes: number;
  limits?: typeof defaultLimits;
}

/**
 * Writes the contents of a guest's result into a directory. No name from the stream becomes a file name: contents are
 * numbered, and the file `list` describes each in a line. The lines are sorted here (contract's `orderOf`), so that
 * sorting does not block the agent.
 */
export async function writeResult(
  stream: AsyncIterable<Buffer>,
  { dir, maxBytes, limits = defaultLimits }: ResultTarget,
): Promise<void> {
  const contents = new Map<string, Content>();
  const lines: { order: string; text: string }[] = [];
  let [bytes, listed] = [0, 0];
  for await (const member of readTar(stream)) {
    const { entry } = member;
    if (entry.name === undefined) continue;
    bytes += entry.size;
    if (lines.length >= limits.entries || bytes > maxBytes) throw new HostileTar("it is larger than a build may be");
    if (contents.has(entry.name)) throw new HostileTar("a name appears twice");
    const content = await contentOf(member, dir, contents);
    if (content !== undefined) contents.set(entry.name, content);
    const text = `${JSON.stringify(headOf(entry, content))}\n`;
    if ((listed += text.length) > limits.list) throw new HostileTar("its names are too long");
    lines.push({ order: orderOf(entry.name), text });
  }
  lines.sort((a, b) => (a.order < b.order ? -1 : Number(a.order > b.order)));
  await writeFile(join(dir, "list"), inPortions(lines), { flag: "wx", mode: 0o600 });
}

function* inPortions(lines: readonly { text: string }[]): Generator<string> {
  for (let first = 0; first < lines.length; first += 5000) {
    const some = lines.slice(first, first + 5000);
    yield some.map(({ text }) => text).join("");
  }
}

interface Content {
  /** The name of its file. */
  number: number;
  size: number;
}

/** A link to a file shares the content of that file, which comes before it. */
async function contentOf(
  { entry, pieces }: TarMember,
  dir: string,
  known: ReadonlyMap<string, Content>,
): Promise<Content | undefined> {
  if (entry.type === "h") {
    const content = known.get(entry.target);
    if (content === undefined) throw new HostileTar("a link leads to a missing file");
    return content;
  }
  if (entry.type !== "f") return undefined;
  const number = known.size;
  await using file = await open(join(dir, String(number)), "wx", 0o600);
  for await (const { position, bytes } of pieces) await writeAll(file, bytes, position);
  await file.truncate(entry.size);
  return { number, size: entry.size };
}

function headOf({ name, type, mode, uid, gid, target }: TarEntry, content: Content | undefined) {
  if (content) return { name, type: "f", mode, uid, gid, content: content.number, size: content.size };
  return { name, type, mode, uid, gid, ...(type === "l" && { target }) };
}
