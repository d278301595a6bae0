import { expect, onTestFinished } from "vitest";
import { addAccount, sharedService } from "./shared-service.ts";
import type { ServiceKind } from "./shared-services.ts";
import { base64Credentials, exchange, lines, request, Wire, type RequestParts, type WireAnswer } from "./wire.ts";

/** An account of a shared service, and a client that sends requests with its credentials. */
export interface Dialect {
  url: string;
  /** The header `Authorization`. */
  basic: string;
  /** Name and key, encoded as in Basic authentication. */
  credentials: string;
  /** A new connection, closed at the end of the test. */
  open: () => Promise<Wire>;
  ask: (line: string, said?: RequestParts, to?: "HEAD") => Promise<WireAnswer>;
  /** A clone of template 1; returns its id. */
  cloned: () => Promise<string>;
  /** Another account of the same service. */
  addAccount: (username: string) => Promise<void>;
}

export async function startDialect(username: string, kind: ServiceKind = "without-agent"): Promise<Dialect> {
  const service = await sharedService(kind);
  const own = await addAccount(service, username);
  const { url } = own;
  const credentials = base64Credentials(own);
  const basic = `Authorization: Basic ${credentials}`;
  const open = async () => {
    const wire = await Wire.open(url);
    onTestFinished(() => wire.close());
    return wire;
  };
  const ask: Dialect["ask"] = (line, said = {}, to) =>
    exchange(url, request(line, { ...said, headers: [basic, ...(said.headers ?? [])] }), to);
  const cloned = async () => {
    const answer = await ask("POST /api/v2/user/appliances?clone_from=1&arch=x86_64");
    return answer.element("id") ?? "";
  };
  const another = async (name: string) => void (await addAccount(service, name));
  return { url, basic, credentials, open, ask, cloned, addAccount: another };
}

/** Checks everything that clients of the original service rely on. */
export function expectDocument(answer: WireAnswer, statusLine = "HTTP/1.1 200 OK"): void {
  expect(`${answer.statusLine} ${answer.element("code") ?? ""}`.trim()).toContain(statusLine);
  expect(answer.headers.get("content-type")).toBe("application/xml; charset=utf-8");
  expect(answer.headers.get("content-length")).toBe(String(answer.body.length));
  expect(answer.headers.has("content-encoding")).toBe(false);
  expect(answer.text).toMatch(/^<\w+[^?]*>\n$/s);
}

export const formType = "Content-Type: application/x-www-form-urlencoded";
export const xmlType = "Content-Type: application/xml";
export const javaAccept = "Accept: text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2";

/** A form as Ruby's gem writes it, with a line break after its end. */
export const rubyForm = (...fields: [string, string][]): string =>
  fields
    .map(([name, value]) => lines("--6b002ccc", `Content-Disposition: form-data; name="${name}"`, "", value))
    .join("") + lines("--6b002ccc--", "");
export const rubyType = "Content-Type: multipart/form-data; boundary=6b002ccc";
