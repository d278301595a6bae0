import { createHash, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/**
 * A stand-in for a service, for behaviour that a real service does not show on demand. It returns the answers of a
 * test.
 */
export interface StandIn extends AsyncDisposable {
  url: string;
  /**
   * Answers by `GET /api/v2/user/appliances` or by path alone. An object is sent as JSON; a function handles the
   * request itself.
   */
  answers: Record<string, object | ((request: IncomingMessage, response: ServerResponse) => void)>;
  /** Every request so far, as `GET /path?query`. */
  requests: string[];
}

export async function standIn(answers: StandIn["answers"] = {}): Promise<StandIn> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { method = "", url = "" } = request;
    requests.push(`${method} ${url}`);
    const path = url.split("?")[0] ?? "";
    const answer = answers[`${method} ${path}`] ?? answers[path];
    if (typeof answer === "function") return answer(request, response);
    const unknown = { error: { code: "invalid_appliance_id", message: "Invalid appliance id." } };
    response.writeHead(answer ? 200 : 404, { "content-type": "application/json" });
    return response.end(JSON.stringify(answer ?? unknown));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers with JSON, and passes on the body of each request. */
export const answering =
  (answer: object, onBody: (body: string, request: IncomingMessage) => void, status = 200) =>
  async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    onBody(await text(request), request);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
  };

/** Refuses as a busy service does. @param seconds how long to wait, as it asks */
export const busy =
  (seconds: number, status = 429) =>
  (_request: unknown, response: ServerResponse): void =>
    void response.writeHead(status, { "retry-after": String(seconds) }).end("Slow down");

/** Refuses the first request of each path once. */
export function busyOnce(answers: StandIn["answers"], paths: readonly string[], seconds = 0): void {
  for (const path of paths) {
    const later = answers[path];
    answers[path] = (request, response) => {
      if (later === undefined) delete answers[path];
      else answers[path] = later;
      busy(seconds)(request, response);
    };
  }
}

/** A key with which a service signs, in its published form. */
export interface SigningKey {
  kid: string;
  pem: string;
  privateKey: KeyObject;
}

export function newKey(): SigningKey {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const spki = publicKey.export({ type: "spki", format: "der" });
  const pem = String(publicKey.export({ type: "spki", format: "pem" }));
  return { kid: createHash("sha256").update(spki).digest("hex"), pem, privateKey };
}

export const publishedKeys = (...keys: SigningKey[]): object => ({ keys: keys.map(({ kid, pem }) => ({ kid, pem })) });

/** The calls that the stand-in must answer before the command line can sign in. */
export const signedInto = (...keys: SigningKey[]): StandIn["answers"] => ({
  "/.well-known/kiln-attestation-keys.json": publishedKeys(...keys),
  "/api/v2/user/account": { account: { username: "tux" } },
});

/** Names with the digests of their contents. */
const digests = (contents: Record<string, string | Uint8Array>) =>
  Object.entries(contents).map(([name, content]) => ({
    name,
    digest: { sha256: createHash("sha256").update(content).digest("hex") },
  }));

/** The provenance of files, as docs/api/attestations.md describes it. */
export function signedProvenance(
  files: Record<string, string | Uint8Array>,
  key: SigningKey,
  {
    id = 12,
    version = "0.0.1",
    imageType = "oem",
    payloadType = inToto,
    byproducts = {},
    conditions = {},
  }: {
    id?: number;
    version?: string;
    imageType?: string;
    payloadType?: string;
    /** Content by name. */
    byproducts?: Record<string, string | Uint8Array>;
    /** Where it was built, and from what. */
    conditions?: object;
  } = {},
): string {
  const subject = digests(files);
  const predicate = {
    runDetails: {
      builder: { id: "https://kiln.test" },
      metadata: { invocationId: String(id), finishedOn: "2026-11-22T10:00:00Z" },
      byproducts: digests({ packages: "busybox-0:1-1.x86_64\n", ...byproducts }),
    },
    buildDefinition: {
      externalParameters: { appliance: { id: 1001, name: "First" }, version, imageType, arch: "x86_64" },
      internalParameters: { builderRoot: "host", ...conditions },
    },
  };
  return signedStatement({ _type: "https://in-toto.io/Statement/v1", subject, predicate }, key, payloadType);
}

const inToto = "application/vnd.in-toto+json";

/** A statement in its envelope, on one line. */
export function signedStatement(statement: object, { kid, privateKey }: SigningKey, payloadType = inToto): string {
  const body = Buffer.from(JSON.stringify(statement));
  const signed = Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${body.length} `), body]);
  const signatures = [{ keyid: kid, sig: sign(null, signed, privateKey).toString("base64") }];
  return `${JSON.stringify({ payloadType, payload: body.toString("base64"), signatures })}\n`;
}
