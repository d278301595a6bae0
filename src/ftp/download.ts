import { Writable } from "node:stream";
import { callbackify } from "node:util";
import { Client } from "basic-ftp";
/** The server said no: `code` says which (RFC 959 §4.2). */
export { FTPError as FtpRefusal } from "basic-ftp";
import { FtpSocket } from "./socket.ts";
import type { ConnectTo } from "./tcp.ts";

/** A file on an FTP server. */
export interface FtpFile {
  host: string;
  port: number;
  /** Empty: anonymous. */
  user: string;
  password: string;
  /** As RETR takes it: from the directory that one logs in to. */
  path: string;
}

/** The file that an ftp address names (RFC 1738 §3.2.2); undefined when it names none, or holds control characters. */
export function ftpFileOf({ hostname, port, username, password, pathname, search }: URL): FtpFile | undefined {
  const [path, user, secret] = [
    `${pathname}${search}`.replace(/^\//, "").replace(/;type=[aid]$/i, ""),
    username,
    password,
  ].map(decoded);
  if (!path || path.endsWith("/") || user === undefined || secret === undefined) return undefined;
  return { host: hostname, port: Number(port || 21), user, password: secret, path };
}

function decoded(text: string): string | undefined {
  try {
    const plain = decodeURIComponent(text);
    return /[\u0000-\u001f\u007f]/.test(plain) ? undefined : plain;
  } catch {
    return undefined;
  }
}

/**
 * Fetches a file in passive and binary mode. The stream ends when the server has said that the transfer is complete, and
 * fails with what went wrong otherwise; a reader that gives up closes the connections.
 */
export function ftpDownload(file: FtpFile, connectTo: ConnectTo): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  void transfer(clientOf(connectTo), file, writable.getWriter());
  return readable;
}

function clientOf(connectTo: ConnectTo): Client {
  // No timeouts of its own, and data from another host only in name: FtpSocket goes to the one host alone.
  const client = new Client(0, { allowSeparateTransferHost: true });
  // oxlint-disable-next-line no-underscore-dangle -- the library's one place for a socket of another kind
  client.ftp._newSocket = () => new FtpSocket(connectTo) as unknown as ReturnType<typeof client.ftp._newSocket>;
  return client;
}

async function transfer(client: Client, file: FtpFile, writer: WritableStreamDefaultWriter<Uint8Array>): Promise<void> {
  writer.closed.catch(() => client.close());
  try {
    await client.connect(file.host, file.port);
    await client.login(file.user || undefined, file.user ? file.password : undefined);
    await client.send("TYPE I");
    await client.downloadTo(into(writer), file.path);
    await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => {}); // the reader went away first
  } finally {
    client.close();
  }
}

/** Takes data as fast as the reader does, and leaves the end to the one who knows whether it is the real one. */
const into = (writer: WritableStreamDefaultWriter<Uint8Array>) =>
  new Writable({
    write: (chunk: Uint8Array, _encoding, done) => callbackify(() => writer.write(chunk))(done),
  });
