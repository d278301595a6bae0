import { z } from "zod";

export const passwordLength = { min: 8, max: 200 } as const;

const nameRule =
  "An account name must have 1 to 64 letters, digits, dots, dashes and underscores, and start with a letter or a digit.";
const emailRule = "Give an email address, such as ada@example.org.";
const displayNameRule = "A display name must have 1 to 100 characters.";
const apiKeyRule = "An API key must have 12 to 100 characters: ASCII letters, digits and punctuation, no spaces.";
const passwordRule = `A password must have ${passwordLength.min} to ${passwordLength.max} characters.`;
const Password = z
  .string(passwordRule)
  .min(passwordLength.min, passwordRule)
  .max(passwordLength.max, passwordRule)
  .optional();

/** The operator's request for a new account. */
export const AccountRequest = z.object({
  // The name is used in Basic credentials and in paths.
  username: z.string(nameRule).regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, nameRule),
  email: z.string(emailRule).regex(/^\S+@\S+$/, emailRule),
  displayName: z.string(displayNameRule).min(1, displayNameRule).max(100, displayNameRule).optional(),
  apiKey: z
    .string(apiKeyRule)
    .regex(/^[\x21-\x7e]{12,100}$/, apiKeyRule)
    .optional(),
  password: Password,
});
export const PasswordRequest = z.object({ password: Password });
const quotaRule = "A quota must be a number of GB from 0 to 1000000, or null for the quota of all accounts.";
export const QuotaRequest = z.object({
  gb: z.number(quotaRule).min(0, quotaRule).max(1_000_000, quotaRule).nullable(),
});
