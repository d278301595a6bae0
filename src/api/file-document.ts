import { metadataNames, type GivenMetadata } from "#domain/contents/overlay-file-metadata";
import { Refusal } from "#domain/refusal";
import type { XmlNode } from "#wire/read-xml";

/** What GET shows and nobody can change. */
const readOnly = new Set(["id", "size", "checksum", "download_url"]);

/** The changes that a PUT of `file` wants. An empty element is like one left out, as with parameters. */
export function changesOf(root: XmlNode): GivenMetadata {
  if (root.name !== "file") throw refusedNode(root.name);
  if (root.text !== "") throw new Refusal("invalid_value", { message: "file holds elements, no text." });
  const changes: GivenMetadata = {};
  for (const node of root.children) {
    const name = node.name.replaceAll("-", "_"); // as ActiveResource writes it
    if (readOnly.has(name)) continue;
    const known = metadataNames.find((one) => one === name);
    const [inner] = node.children;
    if (known === undefined || inner || known in changes) throw refusedNode(known && inner ? inner.name : node.name);
    if (node.text !== "") changes[known] = textOf(node);
  }
  return changes;
}

/** A file name may begin or end with a space; lines around a text are only its layout. */
const textOf = ({ name, text, exactText }: XmlNode): string =>
  ["filename", "path"].includes(name) && !/[\r\n]/.test(exactText) ? exactText : text;

const refusedNode = (name: string) =>
  new Refusal("invalid_node", {
    message: `The element ${name.slice(0, 100)} is not known here, or stands here twice.`,
  });
