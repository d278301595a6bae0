/**
 * A program of its own: reads a guest's result disk and writes what is in it to the working directory, as a user who owns
 * nothing else. No name of the stream becomes a name here: contents are numbered, and `list` says what they are.
 *
 *     node unpack-result.ts DISK UID MOST_BYTES
 */
import { createReadStream, createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { once } from "node:events";
import { HostileTar, readTar, type TarEntry, type TarMember } from "./tar.ts";

const mostEntries = 2_000_000;

const [disk = "", user = "", mostBytes = ""] = process.argv.slice(2);
const source = await open(disk);
becomeUser(Number(user));
await unpack(createReadStream("", { fd: source.fd, autoClose: false, highWaterMark: 1024 * 1024 }), Number(mostBytes));

async function unpack(stream: AsyncIterable<Buffer>, mostBytes: number): Promise<void> {
  const list = createWriteStream("list", { flags: "wx", mode: 0o600 });
  const contents = new Map<string, Content>();
  let [entries, bytes] = [0, 0];
  for await (const member of readTar(stream)) {
    const { entry } = member;
    if (entry.name === undefined) continue;
    bytes += entry.size;
    if (++entries > mostEntries || bytes > mostBytes) throw new HostileTar("it is larger than a build may be");
    if (contents.has(entry.name)) throw new HostileTar("one name twice");
    const content = await contentOf(member, contents);
    if (content !== undefined) contents.set(entry.name, content);
    if (!list.write(`${JSON.stringify(listed(entry, content))}\n`)) await once(list, "drain");
  }
  list.end();
  await once(list, "close");
}

interface Content {
  /** The name of its file here. */
  number: number;
  size: number;
}

/** A link to a file shares the content of that file, which comes before it. */
async function contentOf(
  { entry, pieces }: TarMember,
  known: ReadonlyMap<string, Content>,
): Promise<Content | undefined> {
  if (entry.type === "h") {
    const content = known.get(entry.target);
    if (content === undefined) throw new HostileTar("a link to what is not there");
    return content;
  }
  if (entry.type !== "f") return undefined;
  const number = known.size;
  await using file = await open(String(number), "wx", 0o600);
  for await (const { position, bytes } of pieces) await writeAt(position, bytes);
  await file.truncate(entry.size);
  return { number, size: entry.size };

  async function writeAt(position: number, bytes: Buffer): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
    }
  }
}

function listed({ name, type, mode, uid, gid, target }: TarEntry, content: Content | undefined) {
  if (content) return { name, type: "f", mode, uid, gid, content: content.number, size: content.size };
  return { name, type, mode, uid, gid, ...(type === "l" && { target }) };
}

function becomeUser(user: number): void {
  if (process.getuid?.() !== 0) return;
  process.setgroups?.([]);
  process.setgid?.(user);
  process.setuid?.(user);
}
