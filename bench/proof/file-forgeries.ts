/**
 * Forgeries of a published image, or of the files next to it, by someone who delivers them but has no key of the
 * service.
 */
import { generateKeyPairSync, sign } from "node:crypto";
import { copyFileSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { preAuthEncoding } from "#lib/attest/dsse";

/** The paths of images, which have their files next to them. */
interface Files {
  /** The copy that is forged. */
  image: string;
  /** An image of the previous version. */
  older: string;
  /** An image of another appliance. */
  other: string;
}

export interface FileForgery {
  what: string;
  forge: (files: Files) => void;
  /** Options of `kiln verify`. */
  options?: string[];
}

const bills = [".spdx.json", ".cdx.json"];
const provenance = ".intoto.jsonl";
const rebuilds = ".rebuilds.intoto.jsonl";
const proof = ".tlog-proof";
const all = ["", ...bills, provenance, rebuilds, proof];

interface Envelope {
  payload: string;
  payloadType: string;
  signatures: { keyid: string; sig: string }[];
}

function edit(file: string, change: (text: string) => string): void {
  const before = readFileSync(file, "utf8");
  const text = change(before);
  if (text === before) throw new Error(`the forgery does not change ${file}`);
  writeFileSync(file, text);
}

/** Changes the first envelope of a file. */
const inEnvelope = (suffix: string, change: (envelope: Envelope) => void) => (files: Files) =>
  edit(files.image + suffix, (text) => {
    const [line = "", ...more] = text.split("\n");
    const envelope = JSON.parse(line) as Envelope;
    change(envelope);
    return [JSON.stringify(envelope), ...more].join("\n");
  });

const inStatement = (from: string | RegExp, to: string) => (envelope: Envelope) => {
  const text = Buffer.from(envelope.payload, "base64").toString();
  envelope.payload = Buffer.from(text.replace(from, to)).toString("base64");
};

/** Files of another image, renamed to those of this one. */
function replace({ image }: Files, by: string, suffixes: readonly string[]): void {
  for (const suffix of suffixes) {
    // The older version was never rebuilt.
    if (existsSync(by + suffix)) copyFileSync(by + suffix, image + suffix);
    else rmSync(image + suffix);
  }
}

const forger = generateKeyPairSync("ed25519").privateKey;

function signByForger(envelope: Envelope): void {
  const body = preAuthEncoding(envelope.payloadType, Buffer.from(envelope.payload, "base64"));
  for (const one of envelope.signatures) one.sig = sign(null, body, forger).toString("base64");
}

const inProof = (change: (lines: string[]) => void) => (files: Files) =>
  edit(files.image + proof, (text) => {
    const lines = text.split("\n");
    change(lines);
    return lines.join("\n");
  });

export const fileForgeries: readonly FileForgery[] = [
  {
    what: "one byte of the image",
    forge: ({ image }) => {
      const bytes = readFileSync(image);
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
      writeFileSync(image, bytes);
    },
  },
  { what: "an image that was cut", forge: ({ image }) => truncateSync(image, 1_000_000) },
  { what: "an image of another appliance, with its files", forge: (files) => replace(files, files.other, all) },
  { what: "the older version with its files, as the newer one", forge: (files) => replace(files, files.older, all) },
  { what: "the statement of the older version", forge: (files) => replace(files, files.older, [provenance]) },
  {
    what: "the statement of the older version, with its bills and proof",
    forge: (files) => replace(files, files.older, all.slice(1)),
  },
  {
    what: "a bill without a package",
    forge: ({ image }) => edit(`${image}.spdx.json`, (text) => text.replaceAll("hello", "world")),
  },
  { what: "the bill of another appliance", forge: (files) => replace(files, files.other, [".cdx.json"]) },
  {
    what: "a truncated statement",
    forge: ({ image }) => edit(image + provenance, (text) => text.slice(0, text.length / 2)),
  },
  {
    what: "a statement whose end is missing, in a whole envelope",
    forge: inEnvelope(provenance, (envelope) => (envelope.payload = envelope.payload.slice(0, -400))),
  },
  {
    what: "a statement that names another builder",
    forge: inEnvelope(provenance, inStatement(/"id":"[^"]+"/, '"id":"x"')),
  },
  {
    what: "a signature by another key",
    forge: inEnvelope(provenance, (envelope) => {
      signByForger(envelope);
      for (const one of envelope.signatures) one.keyid = "0".repeat(64);
    }),
  },
  { what: "a signature by another key, under the name of the right one", forge: inEnvelope(provenance, signByForger) },
  { what: "a statement without a signature", forge: inEnvelope(provenance, (envelope) => (envelope.signatures = [])) },
  {
    what: "a statement of another type",
    forge: inEnvelope(provenance, (envelope) => (envelope.payloadType = "text/plain")),
  },
  {
    what: "a statement about a rebuild in place of the provenance",
    forge: ({ image }) => writeFileSync(image + provenance, readFileSync(image + rebuilds)),
  },
  { what: "the proof of another image", forge: (files) => replace(files, files.other, [proof]) },
  { what: "a changed entry of the log", forge: inProof((lines) => (lines[2] = Buffer.alloc(32).toString("base64"))) },
  { what: "another place in the log", forge: inProof((lines) => (lines[1] = "index 0")) },
  {
    what: "a log with another root",
    forge: inProof((lines) => {
      const start = lines.indexOf("");
      lines[start + 3] = Buffer.alloc(32).toString("base64");
    }),
  },
  { what: "no proof", forge: ({ image }) => rmSync(image + proof), options: ["--logged"] },
  {
    what: "a rebuild of another image",
    forge: (files) => replace(files, files.other, [rebuilds]),
  },
  {
    what: "a rebuild with another result",
    forge: inEnvelope(rebuilds, inStatement('"result":"same"', '"result":"differs"')),
  },
  { what: "a rebuild that another key has signed", forge: inEnvelope(rebuilds, signByForger), options: ["--rebuilt"] },
  { what: "no rebuild", forge: ({ image }) => rmSync(image + rebuilds), options: ["--rebuilt"] },
];
