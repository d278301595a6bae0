import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { billSuffixes, provenanceSuffix } from "../attest.ts";
import { sendForFile } from "../client/send.ts";
import { readIfThere } from "../files.ts";
import { proofSuffix } from "../image-log.ts";
import { unverified } from "../verify/envelope.ts";
import { rebuildStatements } from "../verify/rebuilds.ts";
import type { Image } from "./image.ts";

const required = [...billSuffixes, provenanceSuffix];
/** Only published images have a proof, few images were rebuilt, and older services have neither. */
const optional = [proofSuffix, rebuildStatements];

/** The documents of an image, in their own folder as long as they are not verified. */
export interface Documents extends Disposable {
  /** The path that the image would have next to them. */
  image: string;
  /** Puts them next to the image, where they replace earlier ones. */
  publish: () => void;
  /** Keeps them as evidence, and returns their folder. */
  keep: () => string;
}

/** Fetches the documents of an image. Those that are already in the folder stay until the new ones are published. */
export async function fetchDocuments(
  { id, name, url }: Pick<Image, "id" | "name" | "url">,
  { folder, note }: { folder: string; note: (text: string) => void },
): Promise<Documents> {
  const file = join(folder, name);
  const apart = join(folder, `.kiln-documents-${id}`);
  const remove = () => rmSync(apart, { recursive: true, force: true });
  remove(); // an interrupted run may have left it
  mkdirSync(apart);
  const image = join(apart, name);
  try {
    for (const suffix of required) writeFileSync(image + suffix, await textAt(url + suffix));
    for (const suffix of optional) await fetchIfThere(suffix, { url, name, image, file, note });
  } catch (error) {
    remove();
    throw error;
  }
  return {
    image,
    publish: () => {
      for (const suffix of [...required, ...optional])
        if (existsSync(image + suffix)) renameSync(image + suffix, file + suffix);
        else rmSync(file + suffix, { force: true });
    },
    keep: () => {
      const evidence = `${file}.refused`;
      rmSync(evidence, { recursive: true, force: true });
      renameSync(apart, evidence);
      return evidence;
    },
    [Symbol.dispose]: remove,
  };
}

interface Fetched extends Pick<Image, "url" | "name"> {
  /** The path of the image next to the new documents, and of the one next to the stored ones. */
  image: string;
  file: string;
  note: (text: string) => void;
}

/** If the service no longer has a document of the same build, the stored one remains: it shows what was published. */
async function fetchIfThere(suffix: string, { url, name, image, file, note }: Fetched): Promise<void> {
  const answer = await sendForFile(url + suffix);
  if (answer) return writeFileSync(image + suffix, await answer.text());
  const isSameBuild = readIfThere(file + provenanceSuffix)?.equals(readIfThere(image + provenanceSuffix) ?? noBytes);
  if (!isSameBuild || !existsSync(file + suffix)) return;
  copyFileSync(file + suffix, image + suffix);
  note(`The service no longer has ${name}${suffix}. The stored one is used.`);
}

const noBytes = new Uint8Array();

async function textAt(url: string): Promise<string> {
  const answer = await sendForFile(url);
  if (answer) return await answer.text();
  throw unverified(
    "The service has no signed provenance of this image.",
    "If you trust the connection to the service, use --unverified: then only the checksum is verified.",
  );
}
