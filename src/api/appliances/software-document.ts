import { Refusal } from "#domain/refusal";
import type { SelectionRequest } from "#domain/software/software";
import type { XmlNode } from "#wire/read-xml";

type Wanted = Pick<SelectionRequest, "kind" | "name" | "version">;

const kinds = new Map<string, Wanted["kind"]>([
  ["package", "package"],
  ["pattern", "pattern"],
  // One client writes its patterns so (wire.md §2.7).
  ["patterns", "pattern"],
]);

/** The selection that a PUT of `software` wants; attributes of the root say nothing. */
export function selectionOf(root: XmlNode): Wanted[] {
  if (root.name !== "software") throw refusedNode(root.name);
  if (root.text !== "") throw new Refusal("invalid_value", { message: "software holds elements, no text." });
  return root.children.map((node) => {
    const kind = kinds.get(node.name);
    const [inner] = node.children;
    if (kind === undefined || inner) throw refusedNode(inner && kind ? inner.name : node.name);
    if (node.text === "") throw new Refusal("invalid_value", { message: `A ${node.name} has no name.` });
    const version = node.attributes.get("version");
    return { kind, name: node.text, ...(version ? { version } : {}) };
  });
}

const refusedNode = (name: string) =>
  new Refusal("invalid_node", { message: `The element ${name} is not known here.` });
