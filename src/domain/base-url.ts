/** The service's own URL without a slash at its end. Empty if the operator has set none. */
export const baseUrlOf = ({ BASE_URL: url }: Pick<Env, "BASE_URL">): string => url.replace(/\/+$/, "");
