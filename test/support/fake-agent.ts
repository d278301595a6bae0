import { env } from "cloudflare:workers";
import {
  attemptHeader,
  BuildClaimAnswer,
  HelloAnswer,
  partBytes,
  partDigestHeader,
  UploadState,
  type ArtifactName,
  type BuildClaim,
  type BuildClaimRequest,
  type BuildFinished,
  type Capabilities,
  type Heartbeat,
  type Hello,
} from "#lib/contract/index";
import { digestOfParts } from "#storage/artifacts";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { createAgent } from "#domain/agent";
import { openDatabase } from "#storage/db";
import { visit } from "./client.ts";
import { fileStoreOf, type StoreBytes } from "./file-store.ts";

export const capabilities: Capabilities = {
  arches: ["x86_64"],
  imageTypes: ["oem", "iso"],
  packageTypes: ["rpm", "deb"],
  isolation: "none",
  testdrives: true,
  builder: "9.24.56",
};

const beat: Heartbeat = {
  phase: "Installing software",
  percent: 40,
  message: "Installing software (12/48) busybox",
};

export const result: BuildFinished = {
  fileName: "Kiosk.x86_64-0.0.1.oem.tar.gz",
  rawSize: 600 * 1024 ** 2,
  compressed: true,
  installed: [{ name: "busybox", version: "1.35.0", release: "1", arch: "x86_64" }],
  steps: [
    { phase: "Preparing the build", seconds: 30 },
    { phase: "Installing software", seconds: 90 },
  ],
  builder: "9.24.56",
};

/** An agent that uses the real protocol with the real Worker, but builds nothing. */
export interface FakeAgent {
  id: number;
  token: string;
  call: (
    method: string,
    path: string,
    init?: { json?: unknown; body?: BodyInit; headers?: HeadersInit },
  ) => Promise<Response>;
  hello: (can?: Partial<Capabilities>, as?: Pick<Hello, "incarnation">) => Promise<HelloAnswer>;
  /** Claims the oldest waiting build, of any account. */
  claims: (as?: Partial<BuildClaimRequest>) => Promise<Attempt | undefined>;
  /** Claims exactly this build. To get there, claims older ones that earlier tests left waiting. */
  claimsBuild: (buildId: number | string, as?: Partial<BuildClaimRequest>) => Promise<Attempt>;
  /** Claims this build, and completes it. */
  buildsSuccessfully: (
    buildId: number | string,
    image?: Uint8Array<ArrayBuffer>,
    told?: Partial<BuildFinished> & { store?: StoreBytes },
  ) => Promise<Attempt>;
}

/** One claim of a build. Its calls include its token. */
export class Attempt {
  readonly claim: BuildClaim;
  readonly #agent: Pick<FakeAgent, "call">;

  constructor(agent: Pick<FakeAgent, "call">, claim: BuildClaim) {
    this.#agent = agent;
    this.claim = claim;
  }

  /** The build's uid, which is part of its blob keys. */
  get uid(): string {
    return this.claim.token.split(".")[2] ?? "";
  }

  call(verb: string, json: unknown = {}): Promise<Response> {
    return this.#agent.call("POST", this.#path(verb), { json, headers: this.#headers });
  }

  beats(change: Partial<Heartbeat> = {}): Promise<Response> {
    return this.call("heartbeat", { ...beat, ...change });
  }

  writesLog(offset: number, text: string | Uint8Array<ArrayBuffer>): Promise<Response> {
    return this.#agent.call("PUT", this.#path(`log?offset=${offset}`), { body: text, headers: this.#headers });
  }

  sendsPart(
    number: number,
    bytes: Uint8Array<ArrayBuffer>,
    { announced = sha256(bytes), name = "image" }: { announced?: string; name?: ArtifactName } = {},
  ): Promise<Response> {
    const headers = { ...this.#headers, [partDigestHeader]: announced };
    return this.#agent.call("PUT", this.#path(`artifacts/${name}/parts/${number}`), { body: bytes, headers });
  }

  async opensUpload(
    size?: number,
    name: ArtifactName = "image",
    digests?: ReturnType<typeof digestsOf>,
  ): Promise<UploadState> {
    const answer = await succeeded(this.call(`artifacts/${name}`, { size, digests, fileName: `${name}.bin` }));
    return UploadState.parse(await answer.json());
  }

  /** Opens the upload of a complete file. */
  opensWhole(file: Uint8Array<ArrayBuffer>, name: ArtifactName): Promise<UploadState> {
    return this.opensUpload(file.byteLength, name, digestsOf(file));
  }

  async completesUpload(file: Uint8Array<ArrayBuffer>, name: ArtifactName = "image"): Promise<Response> {
    const parts = partsOf(file).map((part) => ({ sha256: sha256(part) }));
    const stated = { size: file.byteLength, partsDigest: await digestOfParts(parts), ...digestsOf(file) };
    return await this.call(`artifacts/${name}/complete`, stated);
  }

  /** All steps of one artifact's upload. */
  async uploadsArtifact(name: ArtifactName, file: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.opensUpload(file.byteLength, name);
    for (const [index, part] of partsOf(file).entries()) await succeeded(this.sendsPart(index + 1, part, { name }));
    await succeeded(this.completesUpload(file, name));
  }

  /** Uploads everything that an attempt must upload. */
  async uploads(image: Uint8Array<ArrayBuffer>, store = fileStoreOf({})): Promise<void> {
    await this.uploadsArtifact("image", image);
    await this.uploadsArtifact("files", store.files);
    await this.uploadsArtifact("files-index", store.index);
  }

  finishes(told: Partial<BuildFinished> = {}): Promise<Response> {
    return this.call("finish", { ...result, ...told });
  }

  get #headers(): Record<string, string> {
    return { [attemptHeader]: this.claim.token };
  }

  #path(verb: string): string {
    return `/builds/${this.claim.buildId}/${verb}`;
  }
}

/** Registers an agent and connects it. */
export async function fakeAgent(name: string = crypto.randomUUID()): Promise<FakeAgent> {
  const { agent, token } = await createAgent(openDatabase(env), env.API_KEY_PEPPER, name);
  const fake = agentWith(agent.id, token);
  await fake.hello();
  return fake;
}

function agentWith(id: number, token: string): FakeAgent {
  const call: FakeAgent["call"] = (method, path, { json, body, headers } = {}) =>
    visit(`/agent${path}`, {
      method,
      headers: { ...Object.fromEntries(new Headers(headers)), authorization: `Bearer ${token}` },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      ...(body === undefined ? {} : { body }),
    });
  const claims: FakeAgent["claims"] = async (as = {}) => {
    const answer = await succeeded(call("POST", "/builds/claim", { json: { capabilities, ...as } }));
    const { build } = BuildClaimAnswer.parse(await answer.json());
    return build === null ? undefined : new Attempt({ call }, build);
  };
  const claimsBuild: FakeAgent["claimsBuild"] = async (buildId, as) => {
    for (let attempt = await claims(as); attempt; attempt = await claims(as)) {
      if (attempt.claim.buildId === Number(buildId)) return attempt;
    }
    throw new Error(`build ${buildId} is not waiting for an agent`);
  };
  return {
    id,
    token,
    call,
    hello: async (can = {}, as = {}) => {
      const json = { capabilities: { ...capabilities, ...can }, ...as };
      const answer = await succeeded(call("POST", "/hello", { json }));
      return HelloAnswer.parse(await answer.json());
    },
    claims,
    claimsBuild,
    buildsSuccessfully: async (buildId, image = bytesOf(`image of ${buildId}`), { store, ...told } = {}) => {
      const attempt = await claimsBuild(buildId);
      await attempt.uploads(image, store);
      await succeeded(attempt.finishes(told));
      return attempt;
    },
  };
}

/** Bytes with their own plain memory, as a request body requires. */
export const bytesOf = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(new TextEncoder().encode(text));

export const sha256 = (bytes: Uint8Array): string => hash("sha256", bytes);

export const hash = (algorithm: string, bytes: Uint8Array): string =>
  createHash(algorithm).update(Buffer.from(bytes)).digest("hex");

const digestsOf = (file: Uint8Array) => ({
  md5: hash("md5", file),
  sha1: hash("sha1", file),
  sha256: sha256(file),
});

function partsOf(image: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const count = Math.ceil(image.byteLength / partBytes);
  return Array.from({ length: count }, (_, index) => image.subarray(index * partBytes, (index + 1) * partBytes));
}

async function succeeded(answer: Promise<Response>): Promise<Response> {
  const { ok, status } = await answer;
  if (!ok) throw new Error(`the Worker answered ${status}: ${await (await answer).text()}`);
  return await answer;
}
