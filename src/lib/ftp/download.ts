import { Writable } from "node:stream";
import { callbackify } from "node:util";
import { Client } from "basic-ftp";
/** The server's refusal. `code` is its reply code (RFC 959 §4.2). */
export { FTPError as FtpRefusal } from "basic-ftp";
import { FtpSocket } from "./socket.ts";
import type { ConnectTo } from "./tcp.ts";

/** A file on an FTP server. */
export interface FtpFile {
  host: string;
  port: number;
  /** Empty for anonymous login. */
  user: string;
  password: string;
  /** As for RETR: relative to the directory after login. */
  path: string;
}

/** The file of an ftp URL (RFC 1738 §3.2.2); undefined if it names none or contains control characters. */
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
 * Fetches a file in passive and binary mode. The stream ends when the server reports that the transfer is complete, and
 * otherwise fails with the error. If the reader cancels, the connections are closed.
 */
export function ftpDownload(file: FtpFile, connectTo: ConnectTo): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  void transfer(clientOf(connectTo), file, writable.getWriter());
  return readable;
}

function clientOf(connectTo: ConnectTo): Client {
  // No timeout here. The server may name another host for the data, but FtpSocket only connects to the one host.
  const client = new Client(0, { allowSeparateTransferHost: true });
  // oxlint-disable-next-line no-underscore-dangle -- the library's only way to set another kind of socket
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
    await writer.abort(error).catch(() => {}); // fails if the reader cancelled first
  } finally {
    client.close();
  }
}

/** Writes data as fast as it is read. Does not close the writer: the caller knows whether the transfer is complete. */
const into = (writer: WritableStreamDefaultWriter<Uint8Array>) =>
  new Writable({
    write: (chunk: Uint8Array, _encoding, done) => callbackify(() => writer.write(chunk))(done),
  });
