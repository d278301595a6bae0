/** An FTP server that exists only in the test: its connections are pairs of streams. */
export interface FakeFtp {
  connectTo: (port: number) => Socket;
  /** The received commands, in order. */
  commands: string[];
  /** Ports that the client connected to. */
  ports: number[];
  /** Connections that the client has closed. */
  closed: () => number;
}

/** The differences from a normal server. */
export interface FtpBehaviour {
  greeting?: string;
  /** Answers that replace the server's own, by command. */
  answers?: Record<string, string>;
  /** Its answer after the data is sent. */
  end?: string;
  /** Never ends the data. */
  hangs?: boolean;
  /** Closes its control connection after the data. */
  leaves?: boolean;
}

const dataPort = 40_000;

export function fakeFtp(files: Record<string, string>, behaviour: FtpBehaviour = {}): FakeFtp {
  const { greeting = "220 Good day", answers = {}, end = "226 Done", hangs = false, leaves = false } = behaviour;
  const [commands, ports]: [string[], number[]] = [[], []];
  let [closed, data]: [number, Peer | undefined] = [0, undefined];

  async function control(peer: Peer): Promise<void> {
    await peer.say(`${greeting}\r\n`);
    for await (const line of peer.lines()) {
      commands.push(line);
      const [verb = ""] = line.split(" ");
      const file = files[line.slice(verb.length + 1)];
      const answer = answers[verb] ?? answerTo(verb, file);
      await peer.say(`${answer}\r\n`);
      if (!answer.startsWith("150")) continue;
      if (file) await data?.say(file);
      if (hangs) return;
      await data?.end();
      if (leaves) return await peer.end();
      await peer.say(`${end}\r\n`);
    }
  }

  const connectTo = (port: number): Socket => {
    ports.push(port);
    const { socket, peer } = connection(() => (closed += 1));
    if (ports.length === 1) void control(peer).catch(() => {}); // the client closed the connection
    else data = peer;
    return socket;
  };
  return { connectTo, commands, ports, closed: () => closed };
}

function answerTo(verb: string, file: string | undefined): string {
  if (verb === "USER") return "331 And the password?";
  if (verb === "PASS") return "230 Come in";
  if (verb === "EPSV") return `229 Here (|||${dataPort}|)`;
  if (verb === "PASV") return `227 Here (10,0,0,1,${dataPort >> 8},${dataPort & 255})`;
  if (verb === "RETR") return file === undefined ? "550 There is no such file" : "150 Here it comes";
  return verb === "TYPE" ? "200 Fine" : "502 What?";
}

interface Peer {
  say: (text: string) => Promise<void>;
  end: () => Promise<void>;
  lines: () => AsyncGenerator<string>;
}

function connection(onClose: () => void): { socket: Socket; peer: Peer } {
  const [toClient, toServer] = [new IdentityTransformStream(), new IdentityTransformStream()];
  const writer = toClient.writable.getWriter();
  const socket: Socket = {
    readable: toClient.readable,
    writable: toServer.writable,
    opened: Promise.resolve({}),
    closed: new Promise(() => {}),
    upgraded: false,
    secureTransport: "off",
    startTls: () => socket,
    close: async () => onClose(),
  };
  const peer: Peer = {
    say: (text) => writer.write(new TextEncoder().encode(text)),
    end: () => writer.close(),
    lines: () => linesOf(toServer.readable),
  };
  return { socket, peer };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let text = "";
  for await (const chunk of stream) {
    const [last = "", ...earlier] = `${text}${new TextDecoder().decode(chunk)}`.split("\r\n").toReversed();
    text = last;
    yield* earlier.toReversed();
  }
}
