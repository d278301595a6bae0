import { createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** A real FTP server for these files on 127.0.0.1. It supports the commands that a download needs. */
export interface FtpServer {
  port: number;
  commands: string[];
  stop: () => void;
}

export async function startFtpServer(
  files: Record<string, Uint8Array>,
  { knowsEpsv = true }: { knowsEpsv?: boolean } = {},
): Promise<FtpServer> {
  const commands: string[] = [];
  const server = createServer((client) => serve(client, { files, knowsEpsv, commands }));
  return { port: await listening(server), commands, stop: () => server.close() };
}

interface Serving {
  files: Record<string, Uint8Array>;
  knowsEpsv: boolean;
  commands: string[];
}

function serve(client: Socket, { files, knowsEpsv, commands }: Serving): void {
  let data: { connection: Promise<Socket>; port: number; server: Server } | undefined;
  const say = (line: string) => client.write(`${line}\r\n`);

  async function answer(line: string): Promise<void> {
    commands.push(line);
    const [verb = "", ...rest] = line.split(" ");
    if (verb === "USER") say("331 Password?");
    else if (verb === "PASS") say("230 Welcome");
    else if (verb === "TYPE") say("200 Fine");
    else if (verb === "EPSV" && knowsEpsv) {
      data = await openData();
      say(`229 Here (|||${data.port}|)`);
    } else if (verb === "PASV") {
      data = await openData();
      // The address of another host. A client that uses it does not get its file.
      say(`227 Here (192,0,2,1,${data.port >> 8},${data.port & 255})`);
    } else if (verb === "RETR") await send(files[rest.join(" ")]);
    else say("502 What?");
  }

  async function send(file: Uint8Array | undefined): Promise<void> {
    if (!file || !data) return void say("550 There is no such file");
    say("150 Here it comes");
    const { connection, server } = data;
    (await connection).end(file, () => say("226 That was it"));
    server.close();
  }

  say("220-A server of a test");
  say("220 Good day");
  let text = "";
  let last = Promise.resolve();
  client.on("error", () => client.destroy());
  client.on("data", (bytes) => {
    const lines = `${text}${bytes}`.split("\r\n");
    text = lines.pop() ?? "";
    for (const line of lines) last = last.then(() => answer(line));
  });
}

async function openData() {
  const server = createServer();
  const connection = new Promise<Socket>((resolve) => void server.once("connection", resolve));
  return { server, connection, port: await listening(server) };
}

const listening = (server: Server) =>
  new Promise<number>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
