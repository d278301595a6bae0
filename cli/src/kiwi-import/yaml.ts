import { parseDocument } from "yaml";
import { isMapping } from "../appliance-file/check.ts";
import { WireFault } from "../kiwi.ts";

/**
 * A description in XML. KIWI also reads and writes it as YAML and JSON: `kiwi-ng image info --print-yaml`. There, the
 * name of an attribute begins with @, `#text` is the text next to attributes, and a list repeats its element.
 */
export function asXml(text: string): string {
  if (/^\uFEFF?\s*</.test(text)) return text;
  // The failsafe schema keeps each value as it was written: `version: 1.10`.
  const document = parseDocument(text, { schema: "failsafe" });
  const [broken] = document.errors;
  if (broken) throw fault(`it is not XML, and as YAML: ${broken.message.split("\n")[0]}`);
  const value: unknown = document.toJS();
  if (isMapping(value) && isMapping(value["image"])) return element("image", value["image"]);
  if (isMapping(value) && value["base_system"] !== undefined)
    throw fault("it is a file of an appliance already, for `kiln plan` and `kiln apply`");
  throw fault("it is neither XML nor YAML that begins with `image:`");
}

const fault = (why: string): WireFault => new WireFault("invalid_xml", `${why}.`);

function elements(name: string, value: unknown): string {
  return (Array.isArray(value) ? value : [value]).map((one: unknown) => element(name, one)).join("");
}

function element(name: string, value: unknown): string {
  if (!/^[A-Za-z_][\w.-]*$/.test(name)) throw fault(`${name} is not the name of an element`);
  if (!isMapping(value)) return `<${name}>${escaped(value)}</${name}>`;
  const members = Object.entries(value);
  const attributes = members.filter(([key]) => key.startsWith("@"));
  const others = members.filter(([key]) => !key.startsWith("@"));
  const given = attributes.map(([key, one]) => ` ${key.slice(1)}="${escaped(one)}"`).join("");
  const inner = others.map(([key, one]) => (key === "#text" ? escaped(one) : elements(key, one))).join("");
  return `<${name}${given}>${inner}</${name}>`;
}

const escaped = (value: unknown): string =>
  String(value ?? "").replaceAll(/[<>&"]/g, (one) => `&#${one.charCodeAt(0)};`);
