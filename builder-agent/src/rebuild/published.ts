/** Reads the public data of a service: its keys, and the sources of a published image. */
import { createHash } from "node:crypto";
import { publicKeyOf, type PublicKey } from "../attest.ts";
import { FrozenInput, StoredPackages } from "../contract.ts";
import { sentenceOf } from "../log.ts";
import type { StoreReader } from "../packages/stored-packages.ts";
import { collect } from "../receive.ts";
import { okOrRefusal, RemoteRefusal, shortTries, withRetry } from "../retry.ts";
import type { Claimed } from "./provenance.ts";
import { impossible, unverified } from "./outcome.ts";

async function get(url: string, signal: AbortSignal): Promise<Response> {
  return await withRetry(async () => await okOrRefusal(`GET ${url}`, await fetch(url, { signal })), shortTries(signal));
}

export async function fetchKeys(service: string, signal: AbortSignal): Promise<PublicKey[]> {
  try {
    const answer = await get(`${service}/.well-known/kiln-attestation-keys.json`, signal);
    const { keys } = (await answer.json()) as { keys: { pem: string }[] };
    return keys.map(({ pem }) => publicKeyOf(pem));
  } catch (cause) {
    throw impossible(`The keys of ${service} cannot be read: ${sentenceOf(cause)}`, { cause });
  }
}

/** The URL of an image's sources at the service. */
export const buildUrlOf = (service: string, { buildId }: Pick<Claimed, "buildId">): string =>
  `${service}/published/${buildId}`;

const maxInputBytes = 128 * 2 ** 20;

/** The frozen input that the provenance names. */
export async function fetchInput(buildUrl: string, claimed: Claimed, signal: AbortSignal): Promise<FrozenInput> {
  const answer = await get(`${buildUrl}/input.json`, signal).catch((cause: unknown) => {
    throw impossible(whyNoInput(cause), { cause });
  });
  const bytes = await collect(answer.body, maxInputBytes);
  if (!bytes) throw impossible("The frozen input is larger than 128 MiB.");
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found !== claimed.input)
    throw unverified(
      `The frozen input from the service is not the one in the provenance: its SHA-256 is ${found}, not ${claimed.input}.`,
    );
  const parsed = FrozenInput.safeParse(JSON.parse(bytes.toString("utf8")));
  if (!parsed.success)
    throw impossible("This version of the builder agent cannot read the frozen input: use a newer one.");
  return parsed.data;
}

function whyNoInput(cause: unknown): string {
  const status = cause instanceof RemoteRefusal ? cause.status : undefined;
  if (status === 403) return "The publisher does not allow cloning, so other users cannot download the frozen input.";
  if (status === 404)
    return "The image is not in the gallery of the service, so its frozen input cannot be downloaded.";
  return `The frozen input cannot be read: ${sentenceOf(cause)}`;
}

/** The packages of mirrors that the service stores for the build. */
export const publishedPackages = (buildUrl: string): StoreReader => ({
  listStored: async (_, signal) =>
    StoredPackages.parse(await (await get(`${buildUrl}/stored-packages`, signal)).json()).packages,
  readPiece: (_, { packageId, piece }, signal) => get(`${buildUrl}/stored-packages/${packageId}/${piece}`, signal),
});
