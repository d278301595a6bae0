import { dailyRates, rates } from "#domain/accounts/default-rates";

/** The values that a variable may have, and how to tell the operator. */
interface Form {
  values: RegExp;
  meaning: string;
}

const count: Form = { values: /^\d{1,9}$/, meaning: "a whole number" };
const amount: Form = { values: /^\d{1,9}(\.\d{1,9})?$/, meaning: "a number" };
const rateNames = Object.keys({ ...rates, ...dailyRates });
const text: Form = { values: /^/, meaning: "any text" };

/** Every variable of wrangler.toml, and the secret that an operator may add. Texts are read where they are used. */
const forms: Record<string, Form> = {
  MODE: { values: /^(embedded|cloudflare)$/, meaning: "embedded or cloudflare" },
  BASE_URL: text,
  MAX_BUILDS: count,
  MAX_BUILDS_PER_ACCOUNT: count,
  MAX_TESTDRIVES: count,
  MAX_TESTDRIVES_PER_ACCOUNT: count,
  TESTDRIVE_MINUTES: amount,
  TESTDRIVE_ORIGIN: text,
  ACCOUNT_QUOTA_GB: amount,
  MAX_REPOSITORIES_PER_ACCOUNT: count,
  MAX_PACKAGES_PER_ACCOUNT: count,
  MAX_REPOSITORY_MB_PER_ACCOUNT: amount,
  MAX_APPLIANCES_PER_ACCOUNT: count,
  MAX_CONFIGURATION_MB_PER_ACCOUNT: amount,
  MAX_FILES_PER_ACCOUNT: count,
  MAX_UPLOADED_PACKAGES_PER_ACCOUNT: count,
  MAX_COMMENTS_PER_ACCOUNT: count,
  MAX_WEBHOOKS_PER_ACCOUNT: count,
  MAX_TOKENS_PER_ACCOUNT: count,
  MAX_UPLOADS_PER_ACCOUNT: count,
  KEEP_IMAGES_DAYS: amount,
  STORED_PACKAGES_GB: amount,
  KEEP_REPOSITORIES_DAYS: amount,
  KEEP_PREPARED_HOURS: amount,
  ACCOUNT_RATES: {
    values: new RegExp(`^[\\s,]*((${rateNames.join("|")})=\\d{1,9}([\\s,]+|$))*$`),
    meaning: `pairs such as builds=20, separated by spaces; the names are ${rateNames.join(", ")}`,
  },
  MAX_UPLOAD_MB: amount,
  BODY_SECONDS: amount,
  MAX_FILE_MB: amount,
  CLOUDFLARE_ACCOUNT_ID: text,
  QUEUE_ID: text,
  LOG_REQUESTS: { values: /^(0|1|0?\.\d{1,9}|[01]\.0+)$/, meaning: "a share from 0 to 1" },
  TRUSTED_PROXIES: text,
  // The base64 of the 44 bytes of an Ed25519 key (RFC 8410).
  ATTESTATION_RETIRED_KEYS: {
    values: /^[\s,]*(MCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=([\s,]+|$))*$/,
    meaning: "Ed25519 public keys as base64, separated by spaces",
  },
  WITNESSES: text,
  MAIL_URL: text,
  MAIL_FROM: text,
  MAIL_TOKEN: text,
};

/** The names of all variables that an operator may set. */
export const variableNames: readonly string[] = Object.keys(forms);

/**
 * Why a service must not start with these variables. A limit that is not a number would be no limit. Undefined if it
 * may start. Ignores other bindings.
 */
export function variableProblem(variables: object): string | undefined {
  for (const [name, value] of Object.entries(variables)) {
    const form = forms[name];
    if (form && typeof value === "string" && !form.values.test(value))
      return `${name}: ${value} is not ${form.meaning}.`;
  }
  return undefined;
}
