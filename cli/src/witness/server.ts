import { sign } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { cosignatureLine, judge, readSubmission, type NamedKey } from "../image-log.ts";
import type { WitnessFolder } from "./store.ts";

export interface WitnessOptions {
  folder: WitnessFolder;
  /** The name under which it signs. */
  name: string;
  /** The keys of the logs that it knows. */
  logs: readonly NamedKey[];
  /** Called with a line for each answer to a log. */
  note: (line: string) => void;
}

interface Answer {
  status: number;
  text: string;
  type?: string;
}

const longestBody = 65_536;

/** A witness of logs (c2sp.org/tlog-witness). */
export function witnessServer(options: WitnessOptions): { server: Server; witness: NamedKey } {
  const { witness, pem } = options.folder.key(options.name);
  const submitted = (text: string): Answer => {
    const submission = readSubmission(text);
    if (!submission) return { status: 400, text: "This is not a submission." };
    // Nothing else runs between reading the last checkpoint and writing the next one.
    const verdict = judge(submission, options.logs, (origin) => options.folder.seen(origin));
    if ("why" in verdict) {
      options.note(`Refused with ${verdict.status}: ${verdict.why}`);
      if (verdict.size === undefined) return { status: verdict.status, text: verdict.why };
      return { status: verdict.status, text: String(verdict.size), type: "text/x.tlog.size" };
    }
    const at = Math.floor(Date.now() / 1000);
    const line = cosignatureLine(submission.note, { witness, sign: (message) => sign(null, message, pem), at });
    options.folder.keep(verdict.origin, submission.note + line);
    options.note(`Cosigned ${verdict.size} entries of ${verdict.origin}.`);
    return { status: 200, text: line.trimEnd() };
  };
  const answered = async (request: IncomingMessage): Promise<Answer> => {
    if (request.method === "POST" && request.url === "/add-checkpoint") {
      const text = await bodyOf(request);
      return text === undefined ? { status: 413, text: "The submission is too long." } : submitted(text);
    }
    const [, hash] = /^\/([0-9a-f]{64})\/checkpoint$/.exec(request.url ?? "") ?? [];
    const found = request.method === "GET" && hash !== undefined ? options.folder.note(hash) : undefined;
    return found === undefined
      ? { status: 404, text: "There is nothing here." }
      : { status: 200, text: found.trimEnd() };
  };
  const server = createServer((request, response) => {
    answered(request).then(
      (answer) => send(response, answer),
      (error: unknown) => {
        options.note(`Could not answer: ${error instanceof Error ? error.message : String(error)}`);
        send(response, { status: 500, text: "The witness cannot answer." });
      },
    );
  });
  server.requestTimeout = 30_000;
  return { server, witness };
}

function send(response: ServerResponse, { status, text, type = "text/plain; charset=utf-8" }: Answer): void {
  response.writeHead(status, { "content-type": type }).end(`${text}\n`);
}

/** Undefined if it is longer than any submission. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > longestBody) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
