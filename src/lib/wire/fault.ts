/** A client sent an invalid document. The codes are the specification's, and the message is for the client. */
export class WireFault extends Error {
  override readonly name = "WireFault";
  readonly code: "invalid_xml" | "invalid_node" | "invalid_value";
  constructor(code: WireFault["code"], message: string) {
    super(message);
    this.code = code;
  }
}

export const unknownElement = (path: string) =>
  new WireFault("invalid_node", `The element ${shortened(path)} is not known here.`);

export const wrongValue = (path: string, why: string) => new WireFault("invalid_value", `${shortened(path)}: ${why}.`);

/** Limit of a path in a message. Kiln's own paths are shorter, but a client's element may have a name of a megabyte. */
const maxPath = 200;

const shortened = (path: string) => (path.length > maxPath ? `${path.slice(0, maxPath).toWellFormed()}…` : path);
