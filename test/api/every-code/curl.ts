/** A documented curl command, as the request that curl would send. */
export interface CurlRequest {
  method: string;
  /** Starts with `$api`. */
  url: string;
  headers: Record<string, string>;
  hasCredentials: boolean;
  /** `-d`, joined as curl does. */
  data: string | undefined;
  /** `-F`; a value that starts with @ is a file. */
  fields: [name: string, value: string][];
}

export function readCurl(line: string): CurlRequest {
  const [program, ...words] = wordsOf(line);
  if (program !== "curl") throw new Error(`no curl line: ${line}`);
  const request: CurlRequest = { method: "", url: "", headers: {}, hasCredentials: false, data: undefined, fields: [] };
  while (words.length > 0) takeOption(request, words);
  request.method ||= request.data !== undefined || request.fields.length > 0 ? "POST" : "GET";
  if (request.data !== undefined) request.headers["content-type"] = "application/x-www-form-urlencoded";
  return request;
}

function takeOption(request: CurlRequest, words: string[]): void {
  const word = words.shift() ?? "";
  if (!word.startsWith("-")) {
    request.url = word;
    return;
  }
  const value = words.shift() ?? "";
  const at = value.search(/[:=]/);
  if (word === "-u") request.hasCredentials = value === "$me";
  else if (word === "-X") request.method = value;
  else if (word === "-d") request.data = request.data === undefined ? value : `${request.data}&${value}`;
  else if (word === "-H") request.headers[value.slice(0, at).toLowerCase()] = value.slice(at + 1).trim();
  else if (word === "-F") request.fields.push([value.slice(0, at), value.slice(at + 1)]);
  else throw new Error(`curl's option ${word} is not known here`);
}

/** Splits words as a shell does. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) => single ?? double ?? bare ?? "");
