import { identityAt, shellHistory, type FrozenFile } from "../contract.ts";
import { scan, startOf } from "./root-scan.ts";
import type { Found, RootTree } from "./root-walk.ts";

/** The directories where packages, scripts and people leave files. Programs and their documentation are elsewhere. */
const searched = /^\/(?:etc|root|home|var|opt|srv|boot|efi)\//;
/** Keys that belong to a program's tests or documentation are not secret. A user may have the name "test". */
const examples =
  /^\/(?:opt|srv|var|home\/[^/]+)\/(?:.*\/)?(?:tests?|testdata|fixtures?|docs?|examples?|node_modules)\//s;

/** A larger file is not a key. */
const maxFileBytes = 1024 * 1024;
const headBytes = 16 * 1024;
const maxFindings = 50;
const maxShownPath = 200;

interface Secret {
  /** The description of the file, which is followed by its path. */
  says: string;
  path: RegExp;
  /** Text that makes such a file a secret. By default every file that is not empty is one. */
  text?: RegExp;
}

/** A header followed by what a key has next, because scripts mention headers, too. JSON writes a line break as `\n`. */
const pemKey =
  /^[^#\n]{0,400}-----BEGIN (?:[A-Z0-9]{1,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\r?\n|\\n)(?:[A-Za-z0-9+/=]{16}|[A-Z][A-Za-z-]{2,20}: |\r?\n[A-Za-z0-9+/=]{16})/m;

const same = "All machines of this image have the same";
const sameKey = `${same} private key`;
const everyone = "Everyone with this image has the";

/** Secrets in addition to the files of `identityFiles`. */
const secrets: readonly Secret[] = [
  { says: `${everyone} history of commands`, path: shellHistory },
  { says: `${everyone} credentials of AWS`, path: /\/\.aws\/credentials$/ },
  {
    says: `${everyone} credentials of Google Cloud`,
    path: /\/\.config\/gcloud\/(?:credentials\.db|access_tokens\.db|application_default_credentials\.json|legacy_credentials\/.*)$/,
  },
  {
    says: `${everyone} credentials of Azure`,
    path: /\/\.azure\/(?:accessTokens\.json|msal_token_cache\.[a-z]+|service_principal_entries\.[a-z]+)$/,
  },
  {
    says: `${everyone} credentials of a container registry`,
    path: /\/(?:\.docker\/config\.json|\.dockercfg|containers\/auth\.json)$/,
    text: /"(?:auth|identitytoken|password)"\s*:\s*"[^"]/,
  },
  {
    says: `${everyone} credentials of a Kubernetes cluster`,
    path: /\/(?:\.kube\/config|[^/]*kubeconfig|kubernetes\/[^/]+\.conf|k3s\.yaml)$/,
    text: /^[ \t]*(?:client-key-data|token|password): *\S/m,
  },
  { says: `${everyone} passwords of other machines`, path: /\/\.(?:netrc|git-credentials|pgpass|vault-token)$/ },
  {
    says: `${everyone} passwords of other machines`,
    path: /\/\.npmrc$/,
    text: /_(?:authToken|auth|password)\s*=\s*\S/,
  },
  { says: `${same} key of MUNGE`, path: /^\/etc\/munge\/munge\.key$/ },
  { says: `${same} key of Kerberos`, path: /\.keytab$/ },
  { says: `${same} secrets of Samba`, path: /^\/(?:etc|var\/lib)\/samba\/(?:private\/)?secrets\.tdb$/ },
  // These do not have the text format of other keys.
  { says: `${same} SSH host key`, path: /\/dropbear_[^/]*host_key$/ },
  { says: sameKey, path: /\/private-keys-v1\.d\// },
  {
    says: `${sameKey} of WireGuard`,
    path: /\.(?:conf|netdev|nmconnection)$/,
    text: /^(?:private-key|PrivateKey)\s*=\s*[A-Za-z0-9+/]{43}=/im,
  },
  { says: sameKey, path: /./s, text: pemKey },
  { says: sameKey, path: /./s, text: /^(?:PuTTY-User-Key-File-\d: |AGE-SECRET-KEY-1[A-Z0-9]{20})/m },
];

/**
 * Finds secrets that all machines of an image would share, although each machine should have its own. Returns a
 * sentence for each file, without its content. Files of the appliance itself are not reported: its owner has put them
 * there, and is warned about them before sharing the appliance.
 */
export async function sharedSecrets(
  root: RootTree,
  signal: AbortSignal,
  files: readonly Pick<FrozenFile, "path">[] = [],
): Promise<string[]> {
  const own = new Set(files.map(({ path }) => path));
  const sentences: string[] = [];
  let more = 0;
  for await (const found of scan(root, signal)) {
    if (!isSearched(found) || own.has(found.path)) continue;
    const says = whatIsShared(found);
    if (says === undefined) continue;
    if (sentences.length < maxFindings) sentences.push(`${says}: ${shown(found.path)}`);
    else more += 1;
  }
  return more === 0
    ? sentences
    : [...sentences, `${more} more files have keys or passwords that all machines of this image share.`];
}

const isSearched = ({ type, size, path }: Found): boolean =>
  type === "f" && size > 0 && searched.test(path) && !examples.test(path);

function whatIsShared(found: Found): string | undefined {
  const identity = identityAt(found.path);
  const rules = identity
    ? [{ says: `${same} ${identity.what}`, text: identity.text }]
    : secrets.filter(({ path }) => path.test(found.path));
  let head: string | undefined;
  for (const { says, text } of rules) if (!text || text.test((head ??= headOf(found)))) return says;
  return undefined;
}

const headOf = (found: Found): string =>
  found.size > maxFileBytes ? "" : startOf(found, headBytes).toString("latin1");

/** A name may contain anything, and a line of a log must stay one line. */
function shown(path: string): string {
  const text = path.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?");
  return text.length > maxShownPath ? `${text.slice(0, maxShownPath)}…` : text;
}
