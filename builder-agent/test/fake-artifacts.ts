import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import {
  artifactNames,
  CompleteUpload,
  OpenUpload,
  partBytes,
  partDigestHeader,
  type ArtifactName,
} from "../src/contract.ts";

/** The fake Worker's state of one artifact. */
export interface FakeArtifact {
  parts: Map<number, { sha256: string; bytes: Buffer }>;
  upload: (OpenUpload & { complete: CompleteUpload | null }) | null;
  /** How often each part was sent. */
  puts: number[];
}

export type FakeArtifacts = Record<ArtifactName, FakeArtifact>;

export const noArtifacts = (): FakeArtifacts => ({
  image: nothing(),
  files: nothing(),
  "files-index": nothing(),
  prepared: nothing(),
  delta: nothing(),
});

const nothing = (): FakeArtifact => ({ parts: new Map(), upload: null, puts: [] });

export const areComplete = (artifacts: FakeArtifacts): boolean =>
  artifactNames.every((name) => artifacts[name].upload?.complete);

/** The uploaded file, joined from its parts. */
export function uploadedFile({ parts }: FakeArtifact): Buffer {
  const all = [...parts].toSorted(([a], [b]) => a - b);
  return Buffer.concat(all.map(([, part]) => part.bytes));
}

export type Answer = [status: number, body: object];

/** Answers a call about an artifact. Undefined if there is no such route. */
export function aboutArtifact(
  artifact: FakeArtifact,
  verb: string,
  { body, headers }: { body: Buffer; headers: IncomingHttpHeaders },
): Answer | undefined {
  const json = (): unknown => JSON.parse(body.toString());
  if (verb === "") return openUpload(artifact, OpenUpload.parse(json()));
  if (verb === "complete") return completeUpload(artifact, CompleteUpload.parse(json()));
  const part = /^parts\/(\d+)$/.exec(verb)?.[1];
  if (part === undefined) return undefined;
  const announced = headers[partDigestHeader];
  return putPart(artifact, Number(part), { body, announced, length: Number(headers["content-length"]) });
}

function openUpload(artifact: FakeArtifact, file: OpenUpload): Answer {
  artifact.upload ??= { ...file, complete: null };
  const parts = [...artifact.parts].map(([number, part]) => ({
    number,
    sha256: part.sha256,
    size: part.bytes.length,
  }));
  return [200, { partBytes, parts, complete: artifact.upload.complete !== null }];
}

function putPart(
  artifact: FakeArtifact,
  number: number,
  part: { body: Buffer; announced: unknown; length: number },
): Answer {
  artifact.puts.push(number);
  if (sha256(part.body) !== part.announced) return [400, { error: "another digest" }];
  if (part.length !== part.body.length) return [411, { error: "no length" }];
  artifact.parts.set(number, { sha256: sha256(part.body), bytes: part.body });
  return [200, {}];
}

function completeUpload(artifact: FakeArtifact, file: CompleteUpload): Answer {
  const parts = [...artifact.parts].toSorted(([a], [b]) => a - b).map(([, part]) => part);
  const whole = Buffer.concat(parts.map((part) => part.bytes));
  const isWhole =
    whole.length === file.size && sha256(parts.map((part) => part.sha256).join("\n")) === file.partsDigest;
  if (!isWhole || artifact.upload === null) return [409, { error: "parts are missing" }];
  artifact.upload.complete = file;
  return [200, {}];
}

export const sha256 = (bytes: Buffer | string) => createHash("sha256").update(bytes).digest("hex");
