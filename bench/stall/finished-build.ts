import { createHash } from "node:crypto";
import {
  artifactNames,
  partBytes,
  phases,
  type BuildFinished,
  type Capabilities,
} from "../../builder-agent/src/contract.ts";
import { digestOfParts } from "../../builder-agent/src/upload/checksum.ts";
import { connectWorker, type ArtifactApi } from "../../builder-agent/src/worker-api.ts";
import { readSecrets } from "../../scripts/launch/secrets.ts";
import type { Stage } from "./scenario.ts";

const capabilities: Capabilities = {
  arches: ["x86_64"],
  imageTypes: ["oem"],
  isolation: "none",
  testdrives: false,
  builder: "bench",
};
const limitMs = 120_000;

type Bytes = Uint8Array<ArrayBuffer>;
type Result = { image: Bytes } & Pick<BuildFinished, "installed">;

/** Finishes a waiting build with this result, through the agent's API. */
export async function finishBuild({ service }: Stage, buildId: string, { image, installed }: Result): Promise<void> {
  const token = readSecrets(service.stateDir).AGENT_TOKEN ?? "";
  const api = connectWorker({ url: service.ready().url, token });
  const signal = AbortSignal.timeout(limitMs);
  await api.hello(capabilities, signal);
  const claim = await api.claimBuild(capabilities, signal);
  if (claim?.buildId !== Number(buildId)) throw new Error(`build ${buildId} cannot be claimed`);
  const lease = { id: claim.buildId, token: claim.token };
  const fileName = `${claim.input.imageName}.tar.gz`;
  const other = new TextEncoder().encode("no measurement reads it");
  for (const name of artifactNames) {
    await send(api.artifact(lease, name, signal), fileName, name === "image" ? image : other);
  }
  const steps = [{ phase: phases[6], seconds: 1 }];
  const [rawSize, builder] = [image.byteLength, capabilities.builder ?? ""];
  await api.finish(lease, { fileName, rawSize, compressed: true, installed, steps, builder }, signal);
}

async function send(artifact: ArtifactApi, fileName: string, bytes: Bytes): Promise<void> {
  const size = bytes.byteLength;
  await artifact.open({ size, fileName });
  const digests: string[] = [];
  for (let at = 0; at < size; at += partBytes) {
    const body = bytes.subarray(at, at + partBytes);
    const sha256 = digest("sha256", body);
    digests.push(sha256);
    await artifact.putPart({ number: digests.length, sha256, body });
  }
  const [md5, sha1, sha256] = [digest("md5", bytes), digest("sha1", bytes), digest("sha256", bytes)];
  await artifact.complete({ size, partsDigest: digestOfParts(digests), md5, sha1, sha256 });
}

const digest = (algorithm: string, bytes: Bytes): string => createHash(algorithm).update(bytes).digest("hex");
