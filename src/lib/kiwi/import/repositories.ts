import type { ImportedDefinition, Omission } from "#lib/kiwi/import/imported";
import { aptAddress } from "#lib/repodata/apt-address";
import type { XmlNode } from "#lib/wire/read-xml";

/** Repositories that the service can import. */
export function repositoriesOf(nodes: readonly XmlNode[]): {
  found: NonNullable<ImportedDefinition["repositories"]>;
  omitted: Omission[];
} {
  const found: NonNullable<ImportedDefinition["repositories"]> = [];
  const omitted: Omission[] = [];
  for (const node of nodes) {
    const source = node.children.find(({ name }) => name === "source");
    const path = source?.attributes.get("path") ?? "";
    const why = reasonToOmit(node, source, path);
    const name = node.attributes.get("alias");
    if (why === undefined) {
      found.push({ ...(name !== undefined && { name }), url: addressOf(node, path) });
      const attributes = [...node.attributes.keys()].filter((one) => !readAttributes.has(one));
      const lost = [...attributes, ...(source?.children ?? []).map(({ name }) => name)];
      for (const one of lost) omitted.push({ what: `repository ${path}/${one}`, why: "the service decides it" });
    } else omitted.push({ what: `repository ${path}`, why });
  }
  return { found, omitted };
}

const readAttributes = new Set(["alias", "type", "sourcetype", "distribution", "components"]);

function reasonToOmit({ attributes }: XmlNode, source: XmlNode | undefined, path: string): string | undefined {
  if (attributes.has("profiles")) return `it belongs only to the profile ${attributes.get("profiles")}`;
  if (attributes.has("arch")) return `it is for ${attributes.get("arch")} only`;
  if (attributes.get("type") === "pacman") return "it is a repository of pacman, which the service cannot read";
  if (attributes.has("password")) return "the service imports no repository with a password";
  const list = attributes.get("sourcetype") ?? source?.attributes.get("sourcetype") ?? "baseurl";
  if (list !== "baseurl") return `it is a ${list}, a list of mirrors: name one of them with \`kiln repo import\``;
  if (/\$\w/.test(path)) return "the service has no variables in addresses: write the address out";
  return /^(https?|ftp):\/\//.test(path) ? undefined : "the service imports repositories only by http, https and ftp";
}

function addressOf({ attributes }: XmlNode, path: string): string {
  const suite = attributes.get("distribution");
  if (suite === undefined) return path;
  return aptAddress(path, suite, (attributes.get("components") ?? "").split(/[\s,]+/).filter(Boolean));
}
